//! Time, cyclic and alarm notifications.

use rtos::{Alarm, Anywhere, Cyclic, Kernel, Needs, Time};

use crate::conversions::{Er, Id, er, give, of_object, processor};

of_object! {
    Task {
        sta_cyc() => Cyclic::sta();
        msta_cyc(number: Id) => Cyclic::msta(processor(number));
        stp_cyc() => Cyclic::stp();
    }
    Unlocked {
        sta_alm(micros: u32) => Alarm::sta(micros);
        msta_alm(micros: u32, number: Id) => Alarm::msta(micros, processor(number));
        stp_alm() => Alarm::stp();
    }
}

/// See [`Time::set`].
pub unsafe fn set_tim<K: Kernel>(micros: u64) -> Er {
    er(Time::<K>::set(micros, Anywhere))
}

/// See [`Time::get`].
pub unsafe fn get_tim<K: Kernel>(micros: *mut u64) -> Er {
    // SAFETY: as C says.
    unsafe { give(micros, Time::<K>::get(Anywhere)) }
}

/// See [`Time::adjust`].
pub unsafe fn adj_tim<K: Kernel>(micros: i32) -> Er {
    er(Time::<K>::adjust(micros, Anywhere))
}

/// See [`Time::precise`].
pub unsafe fn fch_hrt<K: Kernel>() -> u32 {
    Time::<K>::precise()
}

/// T_RCYC and T_RALM.
#[repr(C)]
pub struct Rtime {
    state: u32,
    left: u32,
    prcid: Id,
}

const STOPPED: u32 = 1;
const STARTED: u32 = 2;

impl Rtime {
    fn new((left, place): (Option<u32>, usize)) -> Self {
        let state = if left.is_some() { STARTED } else { STOPPED };
        Rtime { state, left: left.unwrap_or(0), prcid: place as Id + 1 }
    }
}

/// See [`Cyclic::refer`].
pub unsafe fn ref_cyc<K: Kernel>(id: Id, told: *mut Rtime) -> Er {
    let result = (|| {
        let object = Cyclic::<K, _>::by_number_for(Needs::Task, id)?;
        Ok((object.refer(Anywhere)?, object.processor(Anywhere)?))
    })();
    // SAFETY: as C says.
    unsafe { give(told, result.map(Rtime::new)) }
}

/// See [`Alarm::refer`].
pub unsafe fn ref_alm<K: Kernel>(id: Id, told: *mut Rtime) -> Er {
    let result = (|| {
        let object = Alarm::<K, _>::by_number_for(Needs::Task, id)?;
        Ok((object.refer(Anywhere)?, object.processor(Anywhere)?))
    })();
    // SAFETY: as C says.
    unsafe { give(told, result.map(Rtime::new)) }
}
