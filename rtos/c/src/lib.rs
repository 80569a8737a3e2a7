//! The ITRON names of the services, for applications in C.
//!
//! [`c_interface!`] makes the C functions for a kernel. Each function looks its object up by number, converts its
//! arguments to the kernel's types, and calls the same service that Rust calls, from a context that is not known.
#![no_std]
// Every function does what `kernel.h` says under the same name, and asks of pointers what C asks there.
#![allow(clippy::missing_safety_doc)]

mod communication;
mod conversions;
mod synchronisation;
mod system;
mod tasks;
mod time;

pub use communication::*;
pub use conversions::{Bool, Er, Id};
pub use synchronisation::*;
pub use system::*;
pub use tasks::*;
pub use time::*;

/// Makes the C functions of a kernel.
#[macro_export]
macro_rules! c_interface {
    ($kernel:ty) => {
        $crate::functions! { $kernel;
            act_tsk(id: i32) -> i32;
            mact_tsk(id: i32, processor: i32) -> i32;
            can_act(id: i32) -> i32;
            mig_tsk(id: i32, processor: i32) -> i32;
            get_tst(id: i32, state: *mut u32) -> i32;
            chg_pri(id: i32, priority: i32) -> i32;
            chg_spr(id: i32, sub_priority: u32) -> i32;
            get_pri(id: i32, priority: *mut i32) -> i32;
            get_inf(exinf: *mut isize) -> i32;
            ref_tsk(id: i32, told: *mut $crate::Rtsk) -> i32;
            slp_tsk() -> i32;
            tslp_tsk(tmo: u32) -> i32;
            wup_tsk(id: i32) -> i32;
            can_wup(id: i32) -> i32;
            rel_wai(id: i32) -> i32;
            sus_tsk(id: i32) -> i32;
            rsm_tsk(id: i32) -> i32;
            dly_tsk(micros: u32) -> i32;
            ext_tsk() -> i32;
            ras_ter(id: i32) -> i32;
            dis_ter() -> i32;
            ena_ter() -> i32;
            sns_ter() -> i32;
            ter_tsk(id: i32) -> i32;

            sig_sem(id: i32) -> i32;
            wai_sem(id: i32) -> i32;
            pol_sem(id: i32) -> i32;
            twai_sem(id: i32, tmo: u32) -> i32;
            ini_sem(id: i32) -> i32;
            ref_sem(id: i32, told: *mut $crate::Rsem) -> i32;
            set_flg(id: i32, bits: u32) -> i32;
            clr_flg(id: i32, keep: u32) -> i32;
            wai_flg(id: i32, wanted: u32, mode: u32, pattern: *mut u32) -> i32;
            pol_flg(id: i32, wanted: u32, mode: u32, pattern: *mut u32) -> i32;
            twai_flg(id: i32, wanted: u32, mode: u32, pattern: *mut u32, tmo: u32) -> i32;
            ini_flg(id: i32) -> i32;
            ref_flg(id: i32, told: *mut $crate::Rflg) -> i32;
            loc_mtx(id: i32) -> i32;
            ploc_mtx(id: i32) -> i32;
            tloc_mtx(id: i32, tmo: u32) -> i32;
            unl_mtx(id: i32) -> i32;
            ini_mtx(id: i32) -> i32;
            ref_mtx(id: i32, told: *mut $crate::Rmtx) -> i32;
            loc_spn(id: i32) -> i32;
            try_spn(id: i32) -> i32;
            unl_spn(id: i32) -> i32;
            ref_spn(id: i32, told: *mut $crate::Rspn) -> i32;

            snd_dtq(id: i32, word: usize) -> i32;
            psnd_dtq(id: i32, word: usize) -> i32;
            tsnd_dtq(id: i32, word: usize, tmo: u32) -> i32;
            fsnd_dtq(id: i32, word: usize) -> i32;
            rcv_dtq(id: i32, word: *mut usize) -> i32;
            prcv_dtq(id: i32, word: *mut usize) -> i32;
            trcv_dtq(id: i32, word: *mut usize, tmo: u32) -> i32;
            ini_dtq(id: i32) -> i32;
            ref_dtq(id: i32, told: *mut $crate::Rdtq) -> i32;
            snd_pdq(id: i32, word: usize, priority: i32) -> i32;
            psnd_pdq(id: i32, word: usize, priority: i32) -> i32;
            tsnd_pdq(id: i32, word: usize, priority: i32, tmo: u32) -> i32;
            rcv_pdq(id: i32, word: *mut usize, priority: *mut i32) -> i32;
            prcv_pdq(id: i32, word: *mut usize, priority: *mut i32) -> i32;
            trcv_pdq(id: i32, word: *mut usize, priority: *mut i32, tmo: u32) -> i32;
            ini_pdq(id: i32) -> i32;
            ref_pdq(id: i32, told: *mut $crate::Rdtq) -> i32;
            snd_mbf(id: i32, message: *const u8, length: u32) -> i32;
            psnd_mbf(id: i32, message: *const u8, length: u32) -> i32;
            tsnd_mbf(id: i32, message: *const u8, length: u32, tmo: u32) -> i32;
            rcv_mbf(id: i32, message: *mut u8) -> i32;
            prcv_mbf(id: i32, message: *mut u8) -> i32;
            trcv_mbf(id: i32, message: *mut u8, tmo: u32) -> i32;
            ini_mbf(id: i32) -> i32;
            ref_mbf(id: i32, told: *mut $crate::Rmbf) -> i32;
            get_mpf(id: i32, block: *mut *mut u8) -> i32;
            pget_mpf(id: i32, block: *mut *mut u8) -> i32;
            tget_mpf(id: i32, block: *mut *mut u8, tmo: u32) -> i32;
            rel_mpf(id: i32, block: *mut u8) -> i32;
            ini_mpf(id: i32) -> i32;
            ref_mpf(id: i32, told: *mut $crate::Rmpf) -> i32;

            set_tim(micros: u64) -> i32;
            get_tim(micros: *mut u64) -> i32;
            adj_tim(micros: i32) -> i32;
            fch_hrt() -> u32;
            sta_cyc(id: i32) -> i32;
            msta_cyc(id: i32, processor: i32) -> i32;
            stp_cyc(id: i32) -> i32;
            ref_cyc(id: i32, told: *mut $crate::Rtime) -> i32;
            sta_alm(id: i32, micros: u32) -> i32;
            msta_alm(id: i32, micros: u32, processor: i32) -> i32;
            stp_alm(id: i32) -> i32;
            ref_alm(id: i32, told: *mut $crate::Rtime) -> i32;
            sta_ovr(id: i32, micros: u32) -> i32;
            stp_ovr(id: i32) -> i32;
            ref_ovr(id: i32, told: *mut $crate::Rovr) -> i32;

            rot_rdq(priority: i32) -> i32;
            mrot_rdq(processor: i32, priority: i32) -> i32;
            mget_lod(processor: i32, priority: i32, load: *mut u32) -> i32;
            mget_nth(processor: i32, priority: i32, nth: u32, id: *mut i32) -> i32;
            get_tid(id: *mut i32) -> i32;
            get_pid(id: *mut i32) -> i32;
            sil_get_pid(id: *mut i32) -> ();
            get_lod(priority: i32, load: *mut u32) -> i32;
            get_nth(priority: i32, nth: u32, id: *mut i32) -> i32;
            loc_cpu() -> i32;
            unl_cpu() -> i32;
            dis_dsp() -> i32;
            ena_dsp() -> i32;
            sns_ctx() -> i32;
            sns_loc() -> i32;
            sns_dsp() -> i32;
            sns_dpn() -> i32;
            sns_ker() -> i32;
            ext_ker() -> i32;
            dis_int(line: u32) -> i32;
            ena_int(line: u32) -> i32;
            clr_int(line: u32) -> i32;
            ras_int(line: u32) -> i32;
            prb_int(line: u32) -> i32;
            chg_ipm(priority: i32) -> i32;
            get_ipm(priority: *mut i32) -> i32;
            xsns_dpn(raised: *mut core::ffi::c_void) -> i32;
            xget_pc(raised: *mut core::ffi::c_void) -> usize;
            xset_pc(raised: *mut core::ffi::c_void, address: usize) -> ();
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! functions {
    ($kernel:ty; $($name:ident($($argument:ident: $type:ty),*) -> $gives:ty;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $gives {
                // SAFETY: C has given what `kernel.h` asks for.
                unsafe { $crate::$name::<$kernel>($($argument),*) }
            }
        )*
    };
}
