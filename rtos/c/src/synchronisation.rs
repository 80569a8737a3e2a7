//! Semaphores, event flags, mutexes, spin locks.

use rtos::{Anywhere, Error, EventFlag, Kernel, Mode, Mutex, Needs, Semaphore, SpinLock};

use crate::conversions::{Er, Id, give, id, of_object, timeout};

of_object! {
    Dispatching {
        wai_sem() => Semaphore::wai();
        twai_sem(tmo: u32) => Semaphore::twai(timeout::<K>(tmo)?);
        loc_mtx() => Mutex::loc();
        tloc_mtx(tmo: u32) => Mutex::tloc(timeout::<K>(tmo)?);
    }
    Task {
        pol_sem() => Semaphore::pol();
        ini_sem() => Semaphore::ini();
        clr_flg(keep: u32) => EventFlag::clr(keep);
        ini_flg() => EventFlag::ini();
        ploc_mtx() => Mutex::ploc();
        unl_mtx() => Mutex::unl();
        ini_mtx() => Mutex::ini();
    }
    Unlocked {
        sig_sem() => Semaphore::sig();
        set_flg(bits: u32) => EventFlag::set(bits);
        loc_spn() => SpinLock::loc();
        try_spn() => SpinLock::try_loc();
    }
    Nothing {
        unl_spn() => SpinLock::unl();
    }
}

/// TWF_ANDW or TWF_ORW, of a service that needs that of its context.
fn mode<K: Kernel>(needs: Needs, mode: u32) -> Result<Mode, Error> {
    match mode {
        1 => Ok(Mode::Any),
        2 => Ok(Mode::All),
        _ => Err(rtos::refused::<K>(needs, Error::PAR)),
    }
}

/// See [`EventFlag::wai`].
pub unsafe fn wai_flg<K: Kernel>(id: Id, wanted: u32, how: u32, pattern: *mut u32) -> Er {
    // SAFETY: as C says.
    unsafe { twai_flg::<K>(id, wanted, how, pattern, u32::MAX) }
}

/// See [`EventFlag::pol`].
pub unsafe fn pol_flg<K: Kernel>(id: Id, wanted: u32, how: u32, pattern: *mut u32) -> Er {
    let result =
        (|| EventFlag::<K, _>::by_number_for(Needs::Task, id)?.pol(wanted, mode::<K>(Needs::Task, how)?, Anywhere))();
    // SAFETY: as C says.
    unsafe { give(pattern, result) }
}

/// See [`EventFlag::twai`].
pub unsafe fn twai_flg<K: Kernel>(id: Id, wanted: u32, how: u32, pattern: *mut u32, tmo: u32) -> Er {
    let needs = Needs::Dispatching;
    let result = (|| {
        let flag = EventFlag::<K, _>::by_number_for(needs, id)?;
        flag.twai(wanted, mode::<K>(needs, how)?, timeout::<K>(tmo)?, Anywhere)
    })();
    // SAFETY: as C says.
    unsafe { give(pattern, result) }
}

/// T_RSEM.
#[repr(C)]
pub struct Rsem {
    wtskid: Id,
    semcnt: u32,
}

/// See [`Semaphore::refer`].
pub unsafe fn ref_sem<K: Kernel>(number: Id, told: *mut Rsem) -> Er {
    let result = Semaphore::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(|(first, semcnt)| Rsem { wtskid: id(first), semcnt })) }
}

/// T_RFLG.
#[repr(C)]
pub struct Rflg {
    wtskid: Id,
    flgptn: u32,
}

/// See [`EventFlag::refer`].
pub unsafe fn ref_flg<K: Kernel>(number: Id, told: *mut Rflg) -> Er {
    let result = EventFlag::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(|(first, flgptn)| Rflg { wtskid: id(first), flgptn })) }
}

/// T_RMTX.
#[repr(C)]
pub struct Rmtx {
    htskid: Id,
    wtskid: Id,
}

/// See [`Mutex::refer`].
pub unsafe fn ref_mtx<K: Kernel>(number: Id, told: *mut Rmtx) -> Er {
    let result = Mutex::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(|(owner, first)| Rmtx { htskid: id(owner), wtskid: id(first) })) }
}

/// T_RSPN.
#[repr(C)]
pub struct Rspn {
    spnstat: u32,
}

/// See [`SpinLock::refer`].
pub unsafe fn ref_spn<K: Kernel>(number: Id, told: *mut Rspn) -> Er {
    let result = SpinLock::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(|taken| Rspn { spnstat: if taken { 0x02 } else { 0x01 } })) }
}
