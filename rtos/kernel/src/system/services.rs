//! System services: locking the processor, dispatching, interrupt masks, ready queues, the end of the kernel.

use core::marker::PhantomData;

use crate::base::cell::Held;
use crate::base::context::{Context, Kind, Needs, Placed};
use crate::base::error::Error;
use crate::base::model::Model;
use crate::base::port::Port;
use crate::base::ready::PRIORITIES;
use crate::base::ring::Queued;
use crate::kernel::Kernel;
use crate::service::dispatch::{here, with_own};
use crate::service::frame::Service;
use crate::service::refusal::refused;
use crate::state::processor::Processor;
use crate::state::tcb::Tcb;
use crate::system::entry;

/// The system services of a kernel.
pub struct System<K: Kernel>(PhantomData<K>);

/// Works on the processor that the caller runs on, locked. E_CTX if it was locked already.
fn local<K: Kernel, C: Context, T>(
    _: C,
    work: impl FnOnce(&'static Processor<K>, Held<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mask = K::Port::lock();
    if K::Port::was_locked(mask) {
        return Err(Error::CTX);
    }
    // SAFETY: the processor is locked, and only what is its own is given to `work`.
    let result = work(here::<K>(C::PLACE), unsafe { Held::assume() });
    // SAFETY: nothing follows.
    unsafe { K::Port::unlock(mask) };
    result
}

fn is_task<K: Kernel, C: Context>() -> bool {
    match C::KIND {
        Kind::Task => true,
        Kind::Handler => false,
        Kind::Unknown => K::Port::in_task(),
    }
}

impl<K: Kernel> System<K> {
    /// loc_cpu: locks the processor, until unl_cpu. No service but unl_cpu, ext_tsk and the sns_ ones may be called
    /// then.
    pub fn loc_cpu<C: Context>(_: C) -> Result<(), Error> {
        let mask = K::Port::lock();
        if !K::Port::was_locked(mask) {
            // SAFETY: the processor is locked, and this is its own.
            here::<K>(C::PLACE).before.set(Some(mask), unsafe { Held::assume() });
        }
        Ok(())
    }

    /// unl_cpu: unlocks the processor. Without effect while it holds a spin lock.
    pub fn unl_cpu<C: Context>(_: C) -> Result<(), Error> {
        let mask = K::Port::lock();
        let here = here::<K>(C::PLACE);
        // SAFETY: the processor is locked, and this is its own.
        let spinning = here.spinning.get(unsafe { Held::assume() }).is_some();
        if !K::Port::was_locked(mask) {
            // SAFETY: as it was.
            unsafe { K::Port::unlock(mask) };
        } else if !spinning {
            // SAFETY: the caller says that its section ends here.
            unsafe { here.unlock() };
        }
        Ok(())
    }

    /// Runs `section` with the processor locked: no other task and no handler of this processor comes in between.
    pub fn with_cpu_locked<C: Context, T>(cx: C, section: impl FnOnce() -> T) -> Result<T, Error> {
        local::<K, C, T>(cx, |_, _| Ok(section()))
    }

    /// dis_dsp: the task that runs does not give way until ena_dsp.
    pub fn dis_dsp<C: Context>(cx: C) -> Result<(), Error> {
        if !is_task::<K, C>() {
            return Err(Error::CTX);
        }
        local::<K, C, _>(cx, |here, held| {
            here.dispatch_disabled.set(true, held);
            here.dispatching.set(false, held);
            Ok(())
        })
    }

    /// ena_dsp: the task that runs gives way again, at once if another should run.
    pub fn ena_dsp<C: Context>(cx: C) -> Result<(), Error> {
        if !is_task::<K, C>() {
            return Err(Error::CTX);
        }
        local::<K, C, _>(cx, |here, held| {
            here.dispatch_disabled.set(false, held);
            here.dispatching.set(here.interrupt_mask.get(held) == 0, held);
            Ok(())
        })?;
        entry::give_way::<K>();
        Ok(())
    }

    /// chg_ipm: lets only interrupts above that priority through; 0 lets all through. While it is not 0 the task that
    /// runs does not give way. E_PAR if there is no such priority.
    pub fn chg_ipm<C: Context>(priority: i32, _: C) -> Result<(), Error> {
        if !is_task::<K, C>() {
            return Err(Error::CTX);
        }
        if priority > 0 || priority < K::Port::LOWEST_INTERRUPT_MASK {
            return Err(refused::<K>(Needs::Task, Error::PAR));
        }
        let mask = K::Port::lock();
        if K::Port::was_locked(mask) {
            return Err(Error::CTX);
        }
        // SAFETY: the processor is locked, and what follows is its own.
        let held = unsafe { Held::assume() };
        let here = here::<K>(C::PLACE);
        here.interrupt_mask.set(priority, held);
        here.dispatching.set(priority == 0 && !here.dispatch_disabled.get(held), held);
        // SAFETY: nothing follows that the lock guards.
        unsafe { K::Port::unlock(K::Port::mask_interrupts(priority)) };
        entry::give_way::<K>();
        Ok(())
    }

    /// get_ipm: what chg_ipm was last given.
    pub fn get_ipm<C: Context>(cx: C) -> Result<i32, Error> {
        if !is_task::<K, C>() {
            return Err(Error::CTX);
        }
        local::<K, C, _>(cx, |here, held| Ok(here.interrupt_mask.get(held)))
    }

    /// rot_rdq: gives the next task of that priority, or of the caller's if none is given, its turn. E_ILUSE if its tasks
    /// are in the order of their sub-priorities; E_PAR if there is
    /// no such priority.
    pub fn rot_rdq<C: Context>(priority: Option<usize>, cx: C) -> Result<(), Error> {
        Self::rotate(None, priority, cx)
    }

    /// mrot_rdq: as rot_rdq, on that processor, counted from 0. E_ID if there is none. Another processor's pinned tasks
    /// keep their order, here and for the two that follow: they are touched by that processor alone.
    pub fn mrot_rdq<C: Context>(processor: usize, priority: Option<usize>, cx: C) -> Result<(), Error> {
        Self::rotate(Some(processor), priority, cx)
    }

    /// get_lod: how many tasks of that priority, or of the caller's if none is given, can run on this processor.
    pub fn get_lod<C: Context>(priority: Option<usize>, cx: C) -> Result<usize, Error> {
        Self::load(None, priority, cx)
    }

    /// mget_lod: as get_lod, on that processor, counted from 0. E_ID if there is none.
    pub fn mget_lod<C: Context>(processor: usize, priority: Option<usize>, cx: C) -> Result<usize, Error> {
        Self::load(Some(processor), priority, cx)
    }

    /// get_nth: the number of the task of that priority, or of the caller's if none is given, whose turn comes after
    /// `nth` others; none if there are fewer.
    pub fn get_nth<C: Context>(priority: Option<usize>, nth: usize, cx: C) -> Result<Option<usize>, Error> {
        Self::find(None, priority, nth, cx)
    }

    /// mget_nth: as get_nth, on that processor, counted from 0. E_ID if there is none.
    pub fn mget_nth<C: Context>(
        processor: usize,
        priority: Option<usize>,
        nth: usize,
        cx: C,
    ) -> Result<Option<usize>, Error> {
        Self::find(Some(processor), priority, nth, cx)
    }

    fn rotate<C: Context>(processor: Option<usize>, priority: Option<usize>, cx: C) -> Result<(), Error> {
        exists::<K>(Needs::Unlocked, processor)?;
        let rank = match priority {
            None if !is_task::<K, C>() => return Err(refused::<K>(Needs::Unlocked, Error::PAR)),
            _ => rank_or_own::<K, C>(Needs::Unlocked, priority, cx)?,
        };
        if Tcb::<K>::is_by_sub_rank(usize::from(rank)) {
            return Err(refused::<K>(Needs::Unlocked, Error::ILUSE));
        }
        visit::<K, C>(processor, cx, |service, home| {
            service.agenda(home).ready.rotate(rank, service.held());
            service.notify(home);
        })
    }

    fn load<C: Context>(processor: Option<usize>, priority: Option<usize>, cx: C) -> Result<usize, Error> {
        let rank = rank_or_own_in_task::<K, C>(processor, priority, cx)?;
        let mut count = 0;
        visit::<K, C>(processor, cx, |service, home| count += service.agenda(home).ready.count(rank, service.held()))?;
        Ok(count)
    }

    fn find<C: Context>(
        processor: Option<usize>,
        priority: Option<usize>,
        nth: usize,
        cx: C,
    ) -> Result<Option<usize>, Error> {
        let rank = rank_or_own_in_task::<K, C>(processor, priority, cx)?;
        let (mut before, mut found) = (0, None);
        visit::<K, C>(processor, cx, |service, home| {
            let (ready, held) = (&service.agenda(home).ready, service.held());
            found = found.or_else(|| ready.nth(rank, nth - before, held));
            before += ready.count(rank, held);
        })?;
        Ok(found.and_then(Tcb::number))
    }

    /// get_tid: the number of the task that runs, or that the handler has interrupted; none if no task does.
    pub fn get_tid<C: Context>(cx: C) -> Result<Option<usize>, Error> {
        local::<K, C, _>(cx, |here, _| Ok(here.running.get().number()))
    }

    /// get_pid: the number of this processor, counted from 0.
    pub fn get_pid<C: Context>(cx: C) -> Result<usize, Error> {
        local::<K, C, _>(cx, |here, _| Ok(here.number()))
    }

    /// The number of this processor, counted from 0. From any context, with a locked processor too, where get_pid is
    /// E_CTX.
    pub fn processor() -> usize {
        with_own::<K, _>(|here, _| here.number())
    }

    /// sns_ctx: whether a handler runs, and not a task; or what is called before the kernel runs and after.
    pub fn sns_ctx() -> bool {
        !K::Port::in_task() || Self::sns_ker()
    }

    /// sns_loc: whether the processor is locked.
    pub fn sns_loc() -> bool {
        let mask = K::Port::lock();
        let locked = K::Port::was_locked(mask);
        // SAFETY: nothing follows.
        unsafe { K::Port::unlock(mask) };
        locked
    }

    /// sns_dsp: whether dis_dsp was called.
    pub fn sns_dsp() -> bool {
        with_own::<K, _>(|here, held| here.dispatch_disabled.get(held))
    }

    /// sns_dpn: whether a task that should run would have to wait: in a handler, or where the processor is locked, or
    /// the task that runs does not give way.
    pub fn sns_dpn() -> bool {
        Self::sns_loc() || Self::sns_ctx() || !with_own::<K, _>(|here, held| here.dispatching.get(held))
    }

    /// sns_ker: whether the kernel does not run, because it has not started or is about to end.
    pub fn sns_ker() -> bool {
        !K::common().running.load(core::sync::atomic::Ordering::Relaxed)
    }

    /// ext_ker: ends the kernel. The termination routine runs on processor 0.
    pub fn ext_ker() -> ! {
        K::Port::lock();
        entry::end::<K>()
    }
}

/// E_ID if there is no processor of that number, for a service that needs that of its context.
fn exists<K: Kernel>(needs: Needs, processor: Option<usize>) -> Result<(), Error> {
    match processor {
        Some(number) if number >= K::Model::PROCESSORS => Err(refused::<K>(needs, Error::ID)),
        _ => Ok(()),
    }
}

/// The rank of the caller's base priority.
fn own_rank<K: Kernel, C: Context>(cx: C) -> Result<u8, Error> {
    local::<K, C, _>(cx, |here, _| Ok(here.running.get().base.get()))
}

/// The rank of that priority, or of the caller's, for a service that needs that of its context. E_PAR if there is none.
fn rank_or_own<K: Kernel, C: Context>(needs: Needs, priority: Option<usize>, cx: C) -> Result<u8, Error> {
    match priority {
        None => own_rank::<K, C>(cx),
        Some(priority) if (1..=PRIORITIES).contains(&priority) => Ok(priority as u8 - 1),
        Some(_) => Err(refused::<K>(needs, Error::PAR)),
    }
}

/// The same for who must be a task: E_CTX in a handler. E_ID if there is no processor of that number.
fn rank_or_own_in_task<K: Kernel, C: Context>(
    processor: Option<usize>,
    priority: Option<usize>,
    cx: C,
) -> Result<u8, Error> {
    if !is_task::<K, C>() {
        return Err(Error::CTX);
    }
    exists::<K>(Needs::Task, processor)?;
    rank_or_own::<K, C>(Needs::Task, priority, cx)
}

/// Does something with each agenda of a processor, of this one if none is given, that can be worked on from here: the
/// processor's own if the caller is there, and then the shared one. There is a processor of that number.
fn visit<K: Kernel, C: Context>(
    processor: Option<usize>,
    cx: C,
    mut work: impl FnMut(&Service<K, Placed, C>, &'static Processor<K>),
) -> Result<(), Error> {
    let service = Service::<K, Placed, C>::enter_own(cx)?;
    let home = processor.map_or(service.here, Processor::<K>::of);
    if core::ptr::eq(home, service.here) {
        work(&service, home);
    }
    service.finish(());
    if K::Model::PROCESSORS > 1 {
        let service = Service::<K, Placed, C>::enter(Placed(None), cx)?;
        work(&service, home);
        service.finish(());
    }
    Ok(())
}
