//! Tasks.

use rtos::{Anywhere, Current, Error, Kernel, Needs, Placed, Presence, Task, TaskState, WaitsFor};

use crate::conversions::{Bool, Er, Id, er, er_uint, give, processor, timeout};

/// The task of that number, for a service that needs that of its context; the calling one for TSK_SELF.
fn task<K: Kernel>(needs: Needs, id: Id) -> Result<Task<K, Placed>, Error> {
    Task::by_number_or_self(needs, id)
}

/// The same for a service that no handler may call.
fn task_in_task<K: Kernel>(id: Id) -> Result<Task<K, Placed>, Error> {
    task(Needs::Task, id)
}

/// The same for a service of the overrun handler: E_OBJ if the kernel has none.
fn overrun<K: Kernel>(needs: Needs, id: Id) -> Result<Task<K, Placed>, Error> {
    if <K::Overrun as Presence>::IS { task(needs, id) } else { Err(rtos::refused::<K>(needs, Error::OBJ)) }
}

/// Calls services of the task that a function finds, which need that of their context.
macro_rules! of_task {
    ($find:expr, $needs:ident: $($name:ident($($argument:ident: $type:ty),*) => $method:ident($($value:expr),*);)*) => {
        $(
            #[doc = concat!("See [`Task::", stringify!($method), "`].")]
            pub unsafe fn $name<K: Kernel>(id: Id $(, $argument: $type)*) -> Er {
                er($find(Needs::$needs, id).and_then(|task| task.$method($($value,)* Anywhere)))
            }
        )*
    };
}

of_task! { task::<K>, Unlocked:
    act_tsk() => act();
    mact_tsk(number: Id) => mact(processor(number));
    wup_tsk() => wup();
}

of_task! { overrun::<K>, Unlocked:
    sta_ovr(micros: u32) => sta_ovr(micros);
    stp_ovr() => stp_ovr();
}

of_task! { task::<K>, Task:
    mig_tsk(number: Id) => mig(processor(number));
    sus_tsk() => sus();
    chg_spr(sub_priority: u32) => chg_spr(sub_priority);
    chg_pri(priority: i32) => chg_pri((priority != 0).then_some(priority as usize));
}

// Those that the calling task is not meant by.
of_task! { Task::<K, _>::by_number_for, Unlocked:
    rel_wai() => rel_wai();
}

of_task! { Task::<K, _>::by_number_for, Task:
    rsm_tsk() => rsm();
    ras_ter() => ras_ter();
    ter_tsk() => ter();
}

/// See [`Task::can_act`].
pub unsafe fn can_act<K: Kernel>(id: Id) -> Er {
    er_uint(task_in_task::<K>(id).and_then(|task| task.can_act(Anywhere)))
}

/// See [`Task::can_wup`].
pub unsafe fn can_wup<K: Kernel>(id: Id) -> Er {
    er_uint(task_in_task::<K>(id).and_then(|task| task.can_wup(Anywhere)))
}

/// A state as C has it: TTS_RUN and the others.
fn tts(state: TaskState) -> u32 {
    match state {
        TaskState::Running => 0x01,
        TaskState::Ready => 0x02,
        TaskState::Waiting => 0x04,
        TaskState::Suspended => 0x08,
        TaskState::WaitingSuspended => 0x0c,
        TaskState::Dormant => 0x10,
    }
}

/// What is waited for as C has it: TTW_SLP and the others, and the object's number.
fn ttw(waits_for: WaitsFor) -> (u32, Id) {
    match waits_for {
        WaitsFor::Sleep => (0x0001, 0),
        WaitsFor::Delay => (0x0002, 0),
        WaitsFor::Semaphore(number) => (0x0004, number as Id),
        WaitsFor::EventFlag(number) => (0x0008, number as Id),
        WaitsFor::Send(number) => (0x0010, number as Id),
        WaitsFor::Receive(number) => (0x0020, number as Id),
        WaitsFor::Mutex(number) => (0x0080, number as Id),
        WaitsFor::SendByPriority(number) => (0x0100, number as Id),
        WaitsFor::ReceiveByPriority(number) => (0x0200, number as Id),
        WaitsFor::SendMessage(number) => (0x0400, number as Id),
        WaitsFor::ReceiveMessage(number) => (0x0800, number as Id),
        WaitsFor::Memory(number) => (0x2000, number as Id),
    }
}

/// See [`Task::state`].
pub unsafe fn get_tst<K: Kernel>(id: Id, state: *mut u32) -> Er {
    // SAFETY: as C says.
    unsafe { give(state, task_in_task::<K>(id).and_then(|task| task.state(Anywhere)).map(tts)) }
}

/// See [`Task::priority`].
pub unsafe fn get_pri<K: Kernel>(id: Id, priority: *mut i32) -> Er {
    // SAFETY: as C says.
    unsafe {
        give(priority, task_in_task::<K>(id).and_then(|task| task.priority(Anywhere)).map(|priority| priority as i32))
    }
}

/// The exinf of the calling task.
pub unsafe fn get_inf<K: Kernel>(exinf: *mut isize) -> Er {
    let argument = match Task::<K, Placed>::calling() {
        Ok(task) => task.argument().cast::<isize>(),
        Err(_) => return Error::CTX.code(),
    };
    if rtos::System::<K>::sns_loc() {
        return Error::CTX.code();
    }
    // SAFETY: a task in C is described with the address of its exinf; the rest as C says.
    unsafe { give(exinf, if argument.is_null() { Ok(0) } else { Ok(*argument) }) }
}

/// T_RTSK.
#[repr(C)]
pub struct Rtsk {
    tskstat: u32,
    tskpri: i32,
    tskbpri: i32,
    subpri: u32,
    tskwait: u32,
    wobjid: Id,
    lefttmo: u32,
    actcnt: u32,
    wupcnt: u32,
    raster: Bool,
    dister: Bool,
    prcid: Id,
    actprc: Id,
}

/// See [`Task::refer`].
pub unsafe fn ref_tsk<K: Kernel>(id: Id, told: *mut Rtsk) -> Er {
    let result = task_in_task::<K>(id).and_then(|task| task.refer(Anywhere)).map(|task| {
        let (tskpri, tskbpri) = task.priorities.unwrap_or((0, 0));
        let (tskwait, wobjid) = task.waits_for.map_or((0, 0), ttw);
        Rtsk {
            tskstat: tts(task.state),
            tskpri: tskpri as i32,
            tskbpri: tskbpri as i32,
            subpri: task.sub_priority.unwrap_or(u32::MAX),
            tskwait,
            wobjid,
            lefttmo: task.left.unwrap_or(u32::MAX),
            actcnt: task.queued.into(),
            wupcnt: task.woken.into(),
            raster: task.asked_to_end.into(),
            dister: task.unending.into(),
            prcid: task.processor as Id + 1,
            actprc: task.next.map_or(0, |next| next as Id + 1),
        }
    });
    // SAFETY: as C says.
    unsafe { give(told, result) }
}

/// See [`Current::sleep`].
pub unsafe fn slp_tsk<K: Kernel>() -> Er {
    er(Current::<K>::sleep(Anywhere))
}

/// See [`Current::sleep_for`].
pub unsafe fn tslp_tsk<K: Kernel>(tmo: u32) -> Er {
    er(timeout::<K>(tmo).and_then(|timeout| Current::<K>::sleep_for(timeout, Anywhere)))
}

/// See [`Current::delay`].
pub unsafe fn dly_tsk<K: Kernel>(micros: u32) -> Er {
    er(Current::<K>::delay(micros, Anywhere))
}

/// See [`Current::exit`].
pub unsafe fn ext_tsk<K: Kernel>() -> Er {
    Current::<K>::exit_anywhere().code()
}

/// See [`Current::disable_termination`].
pub unsafe fn dis_ter<K: Kernel>() -> Er {
    er(Current::<K>::disable_termination(Anywhere))
}

/// See [`Current::enable_termination`].
pub unsafe fn ena_ter<K: Kernel>() -> Er {
    er(Current::<K>::enable_termination(Anywhere))
}

/// See [`Current::termination_disabled`].
pub unsafe fn sns_ter<K: Kernel>() -> Bool {
    Current::<K>::termination_disabled().into()
}

/// T_ROVR.
#[repr(C)]
pub struct Rovr {
    state: u32,
    left: u32,
}

/// See [`Task::ref_ovr`].
pub unsafe fn ref_ovr<K: Kernel>(id: Id, told: *mut Rovr) -> Er {
    let left = overrun::<K>(Needs::Task, id).and_then(|task| task.ref_ovr(Anywhere));
    let told_of = left.map(|left| Rovr { state: if left.is_some() { 0x02 } else { 0x01 }, left: left.unwrap_or(0) });
    // SAFETY: as C says.
    unsafe { give(told, told_of) }
}
