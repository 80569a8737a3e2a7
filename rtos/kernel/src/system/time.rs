//! Time services: get_tim, set_tim, adj_tim, fch_hrt.

use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;

use crate::base::context::{Context, Shared};
use crate::base::error::Error;
use crate::base::heap::is_due;
use crate::base::model::Model;
use crate::base::port::Port;
use crate::service::frame::Service;
use crate::state::processor::Processor;
use crate::state::storage::Storage;

/// The time services of a kernel.
pub struct Time<K: Storage>(PhantomData<K>);

impl<K: Storage> Time<K> {
    /// get_tim: the system time, in microseconds.
    pub fn get<C: Context>(cx: C) -> Result<u64, Error> {
        let service = Service::<K, _, _>::enter(Shared, cx)?;
        if !service.in_task() {
            return service.leave(Err(Error::CTX));
        }
        let (system, _) = K::common().clock.look(service.held());
        service.leave(Ok(system))
    }

    /// set_tim: sets the system time. No deadline moves.
    pub fn set<C: Context>(micros: u64, cx: C) -> Result<(), Error> {
        let service = Service::<K, _, _>::enter(Shared, cx)?;
        if !service.in_task() {
            return service.leave(Err(Error::CTX));
        }
        let clock = &K::common().clock;
        clock.look(service.held());
        clock.system.set(micros, service.held());
        service.leave(Ok(()))
    }

    /// adj_tim: moves the time, and with it every deadline, by up to a second.
    ///
    /// E_PAR beyond a second; E_OBJ if what is due, or the system time, is more than a second behind already.
    pub fn adjust<C: Context>(micros: i32, cx: C) -> Result<(), Error> {
        const SECOND: u32 = 1_000_000;
        let service = Service::<K, _, _>::enter(Shared, cx)?;
        if micros.unsigned_abs() > SECOND {
            return service.leave(Err(Error::PAR));
        }
        let held = service.held();
        let clock = &K::common().clock;
        let (_, now) = clock.look(held);
        let behind = match service.here.shared().heap.first(held) {
            Some((_, at)) if micros > 0 && is_due(at, now) => now.wrapping_sub(at),
            _ if micros < 0 => clock.latest.load(Relaxed).wrapping_sub(now),
            _ => 0,
        };
        if behind >= SECOND {
            return service.leave(Err(Error::OBJ));
        }
        clock.adjusted.store(clock.adjusted.load(Relaxed).wrapping_add(micros.cast_unsigned()), Relaxed);
        // Every processor's next deadline is now at another time of its timer.
        for number in 0..K::Model::PROCESSORS {
            let processor = Processor::<K>::of(number);
            if core::ptr::eq(processor, service.here) {
                K::Port::alarm(0);
            } else {
                service.notify(processor);
            }
        }
        service.finish(Ok(()))
    }

    /// fch_hrt: the microseconds of the port, from any context and with a locked processor too.
    pub fn precise() -> u32 {
        K::Port::now()
    }
}
