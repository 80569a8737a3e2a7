//! The state of the system, and interrupts.

use rtos::{Anywhere, Error, Kernel, Line, Raised, System};

use crate::conversions::{Bool, Er, Id, er, er_uint, give, id};

/// A priority; none for TPRI_SELF.
fn priority(priority: i32) -> Option<usize> {
    (priority != 0).then_some(priority as usize)
}

/// See [`System::rot_rdq`].
pub unsafe fn rot_rdq<K: Kernel>(of: i32) -> Er {
    er(System::<K>::rot_rdq(priority(of), Anywhere))
}

/// A processor, counted from 1, as the kernel counts it.
fn place(number: Id) -> usize {
    (number as usize).wrapping_sub(1)
}

/// See [`System::mrot_rdq`].
pub unsafe fn mrot_rdq<K: Kernel>(processor: Id, of: i32) -> Er {
    er(System::<K>::mrot_rdq(place(processor), priority(of), Anywhere))
}

/// See [`System::mget_lod`].
pub unsafe fn mget_lod<K: Kernel>(processor: Id, of: i32, load: *mut u32) -> Er {
    let count = System::<K>::mget_lod(place(processor), priority(of), Anywhere);
    // SAFETY: as C says.
    unsafe { give(load, count.map(|count| count as u32)) }
}

/// See [`System::mget_nth`].
pub unsafe fn mget_nth<K: Kernel>(processor: Id, of: i32, nth: u32, number: *mut Id) -> Er {
    let found = System::<K>::mget_nth(place(processor), priority(of), nth as usize, Anywhere);
    // SAFETY: as C says.
    unsafe { give(number, found.map(id)) }
}

/// See [`System::get_tid`].
pub unsafe fn get_tid<K: Kernel>(number: *mut Id) -> Er {
    // SAFETY: as C says.
    unsafe { give(number, System::<K>::get_tid(Anywhere).map(id)) }
}

/// See [`System::get_pid`].
pub unsafe fn get_pid<K: Kernel>(number: *mut Id) -> Er {
    // SAFETY: as C says.
    unsafe { give(number, System::<K>::get_pid(Anywhere).map(|place| place as Id + 1)) }
}

/// See [`System::get_lod`].
pub unsafe fn get_lod<K: Kernel>(of: i32, load: *mut u32) -> Er {
    // SAFETY: as C says.
    unsafe { give(load, System::<K>::get_lod(priority(of), Anywhere).map(|count| count as u32)) }
}

/// See [`System::get_nth`].
pub unsafe fn get_nth<K: Kernel>(of: i32, nth: u32, number: *mut Id) -> Er {
    // SAFETY: as C says.
    unsafe { give(number, System::<K>::get_nth(priority(of), nth as usize, Anywhere).map(id)) }
}

/// See [`System::loc_cpu`].
pub unsafe fn loc_cpu<K: Kernel>() -> Er {
    er(System::<K>::loc_cpu(Anywhere))
}

/// See [`System::unl_cpu`].
pub unsafe fn unl_cpu<K: Kernel>() -> Er {
    er(System::<K>::unl_cpu(Anywhere))
}

/// See [`System::dis_dsp`].
pub unsafe fn dis_dsp<K: Kernel>() -> Er {
    er(System::<K>::dis_dsp(Anywhere))
}

/// See [`System::ena_dsp`].
pub unsafe fn ena_dsp<K: Kernel>() -> Er {
    er(System::<K>::ena_dsp(Anywhere))
}

/// See [`System::sns_ctx`].
pub unsafe fn sns_ctx<K: Kernel>() -> Bool {
    System::<K>::sns_ctx().into()
}

/// See [`System::sns_loc`].
pub unsafe fn sns_loc<K: Kernel>() -> Bool {
    System::<K>::sns_loc().into()
}

/// See [`System::sns_dsp`].
pub unsafe fn sns_dsp<K: Kernel>() -> Bool {
    System::<K>::sns_dsp().into()
}

/// See [`System::sns_dpn`].
pub unsafe fn sns_dpn<K: Kernel>() -> Bool {
    System::<K>::sns_dpn().into()
}

/// See [`System::processor`].
pub unsafe fn sil_get_pid<K: Kernel>(id: *mut Id) {
    // SAFETY: as C says.
    unsafe { id.write(System::<K>::processor() as Id + 1) };
}

/// See [`System::sns_ker`].
pub unsafe fn sns_ker<K: Kernel>() -> Bool {
    System::<K>::sns_ker().into()
}

/// See [`System::ext_ker`].
pub unsafe fn ext_ker<K: Kernel>() -> Er {
    System::<K>::ext_ker()
}

/// See [`Line::new`].
fn line<K: Kernel>(number: u32) -> Result<Line<K>, Error> {
    Line::new(number)
}

/// See [`Line::disable`].
pub unsafe fn dis_int<K: Kernel>(number: u32) -> Er {
    er(line::<K>(number).and_then(|line| line.disable(Anywhere)))
}

/// See [`Line::enable`].
pub unsafe fn ena_int<K: Kernel>(number: u32) -> Er {
    er(line::<K>(number).and_then(|line| line.enable(Anywhere)))
}

/// See [`Line::clear`].
pub unsafe fn clr_int<K: Kernel>(number: u32) -> Er {
    er(line::<K>(number).and_then(|line| line.clear(Anywhere)))
}

/// See [`Line::raise`].
pub unsafe fn ras_int<K: Kernel>(number: u32) -> Er {
    er(line::<K>(number).and_then(|line| line.raise(Anywhere)))
}

/// See [`Line::pending`].
pub unsafe fn prb_int<K: Kernel>(number: u32) -> Er {
    er_uint(line::<K>(number).and_then(|line| line.pending(Anywhere)).map(u32::from))
}

/// See [`System::chg_ipm`].
pub unsafe fn chg_ipm<K: Kernel>(priority: i32) -> Er {
    er(System::<K>::chg_ipm(priority, Anywhere))
}

/// See [`System::get_ipm`].
pub unsafe fn get_ipm<K: Kernel>(priority: *mut i32) -> Er {
    // SAFETY: as C says.
    unsafe { give(priority, System::<K>::get_ipm(Anywhere)) }
}

/// See [`Raised::address`].
pub unsafe fn xget_pc<K: Kernel>(raised: *mut core::ffi::c_void) -> usize {
    // SAFETY: C has given what the handler of an exception was given.
    unsafe { (*raised.cast::<Raised>()).address() }
}

/// See [`Raised::go_on_at`].
pub unsafe fn xset_pc<K: Kernel>(raised: *mut core::ffi::c_void, address: usize) {
    // SAFETY: as above; the rest as C says.
    unsafe { (*raised.cast::<Raised>()).go_on_at(address) };
}

/// See [`Raised::dispatch_pending`].
pub unsafe fn xsns_dpn<K: Kernel>(raised: *mut core::ffi::c_void) -> Bool {
    // SAFETY: C has given what the handler of an exception was given.
    unsafe { (*raised.cast::<Raised>()).dispatch_pending() }.into()
}
