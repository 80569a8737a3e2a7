//! Data queues, priority data queues, message buffers, memory pools.

use rtos::{
    Anywhere, Block, DataQueue, Error, Kernel, MemoryPool, MessageBuffer, Needs, Placed, PriorityDataQueue, Timeout,
};

use crate::conversions::{Er, Id, er, er_uint, give, id, of_object, timeout};

of_object! {
    Dispatching {
        snd_dtq(word: usize) => DataQueue::snd(word);
        tsnd_dtq(word: usize, tmo: u32) => DataQueue::tsnd(word, timeout::<K>(tmo)?);
        snd_pdq(word: usize, priority: i32) => PriorityDataQueue::snd(word, priority as usize);
        tsnd_pdq(word: usize, priority: i32, tmo: u32) =>
            PriorityDataQueue::tsnd(word, priority as usize, timeout::<K>(tmo)?);
    }
    Task {
        ini_dtq() => DataQueue::ini();
        ini_pdq() => PriorityDataQueue::ini();
        ini_mbf() => MessageBuffer::ini();
    }
    Unlocked {
        psnd_dtq(word: usize) => DataQueue::psnd(word);
        fsnd_dtq(word: usize) => DataQueue::fsnd(word);
        psnd_pdq(word: usize, priority: i32) => PriorityDataQueue::psnd(word, priority as usize);
    }
}

/// See [`DataQueue::rcv`].
pub unsafe fn rcv_dtq<K: Kernel>(id: Id, word: *mut usize) -> Er {
    // SAFETY: as C says.
    unsafe { trcv_dtq::<K>(id, word, u32::MAX) }
}

/// See [`DataQueue::prcv`].
pub unsafe fn prcv_dtq<K: Kernel>(id: Id, word: *mut usize) -> Er {
    // SAFETY: as C says.
    unsafe { give(word, DataQueue::<K, _>::by_number_for(Needs::Task, id).and_then(|queue| queue.prcv(Anywhere))) }
}

/// See [`DataQueue::trcv`].
pub unsafe fn trcv_dtq<K: Kernel>(id: Id, word: *mut usize, tmo: u32) -> Er {
    // SAFETY: as C says.
    unsafe {
        give(word, (|| DataQueue::<K, _>::by_number_for(Needs::Dispatching, id)?.trcv(timeout::<K>(tmo)?, Anywhere))())
    }
}

/// T_RDTQ and T_RPDQ.
#[repr(C)]
pub struct Rdtq {
    stskid: Id,
    rtskid: Id,
    count: u32,
}

impl Rdtq {
    fn new((sender, receiver, count): (Option<usize>, Option<usize>, usize)) -> Self {
        Rdtq { stskid: id(sender), rtskid: id(receiver), count: count as u32 }
    }
}

/// See [`DataQueue::refer`].
pub unsafe fn ref_dtq<K: Kernel>(number: Id, told: *mut Rdtq) -> Er {
    let result = DataQueue::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(Rdtq::new)) }
}

/// See [`PriorityDataQueue::refer`].
pub unsafe fn ref_pdq<K: Kernel>(number: Id, told: *mut Rdtq) -> Er {
    let result =
        PriorityDataQueue::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(Rdtq::new)) }
}

/// Puts a word and its priority where C wants them.
unsafe fn give_both(word: *mut usize, priority: *mut i32, result: Result<(usize, usize), Error>) -> Er {
    // SAFETY: as C says.
    unsafe {
        match result {
            Ok((value, rank)) => {
                priority.write(rank as i32);
                give(word, Ok(value))
            }
            Err(error) => error.code(),
        }
    }
}

/// See [`PriorityDataQueue::rcv`].
pub unsafe fn rcv_pdq<K: Kernel>(id: Id, word: *mut usize, priority: *mut i32) -> Er {
    // SAFETY: as C says.
    unsafe { trcv_pdq::<K>(id, word, priority, u32::MAX) }
}

/// See [`PriorityDataQueue::prcv`].
pub unsafe fn prcv_pdq<K: Kernel>(id: Id, word: *mut usize, priority: *mut i32) -> Er {
    let result = PriorityDataQueue::<K, _>::by_number_for(Needs::Task, id).and_then(|queue| queue.prcv(Anywhere));
    // SAFETY: as C says.
    unsafe { give_both(word, priority, result) }
}

/// See [`PriorityDataQueue::trcv`].
pub unsafe fn trcv_pdq<K: Kernel>(id: Id, word: *mut usize, priority: *mut i32, tmo: u32) -> Er {
    let result =
        (|| PriorityDataQueue::<K, _>::by_number_for(Needs::Dispatching, id)?.trcv(timeout::<K>(tmo)?, Anywhere))();
    // SAFETY: as C says.
    unsafe { give_both(word, priority, result) }
}

/// See [`MessageBuffer::snd`].
pub unsafe fn snd_mbf<K: Kernel>(id: Id, message: *const u8, length: u32) -> Er {
    // SAFETY: as C says.
    unsafe { tsnd_mbf::<K>(id, message, length, u32::MAX) }
}

/// The message that C has given to a service that needs that: E_PAR if there is none.
unsafe fn message<'a, K: Kernel>(needs: Needs, start: *const u8, length: u32) -> Result<&'a [u8], Error> {
    if start.is_null() {
        return Err(rtos::refused::<K>(needs, Error::PAR));
    }
    // SAFETY: as C says.
    Ok(unsafe { core::slice::from_raw_parts(start, length as usize) })
}

/// See [`MessageBuffer::psnd`].
pub unsafe fn psnd_mbf<K: Kernel>(id: Id, start: *const u8, length: u32) -> Er {
    er((|| {
        let object = MessageBuffer::<K, _>::by_number_for(Needs::Task, id)?;
        // SAFETY: as C says.
        object.psnd(unsafe { message::<K>(Needs::Task, start, length) }?, Anywhere)
    })())
}

/// See [`MessageBuffer::tsnd`].
pub unsafe fn tsnd_mbf<K: Kernel>(id: Id, start: *const u8, length: u32, tmo: u32) -> Er {
    er((|| {
        let object = MessageBuffer::<K, _>::by_number_for(Needs::Dispatching, id)?;
        // SAFETY: as C says.
        let message = unsafe { message::<K>(Needs::Dispatching, start, length) }?;
        object.tsnd(message, timeout::<K>(tmo)?, Anywhere)
    })())
}

/// Receives into a buffer that C says has room for the longest message.
unsafe fn receive<K: Kernel>(
    needs: Needs,
    id: Id,
    buffer: *mut u8,
    how: impl FnOnce(MessageBuffer<K, Placed>, &mut [u8]) -> Result<usize, Error>,
) -> Er {
    er_uint((|| {
        let object = MessageBuffer::<K, _>::by_number_for(needs, id)?;
        if buffer.is_null() {
            return Err(rtos::refused::<K>(needs, Error::PAR));
        }
        // SAFETY: as C says.
        let buffer = unsafe { core::slice::from_raw_parts_mut(buffer, object.longest()) };
        how(object, buffer).map(|length| length as u32)
    })())
}

/// See [`MessageBuffer::rcv`].
pub unsafe fn rcv_mbf<K: Kernel>(id: Id, buffer: *mut u8) -> Er {
    // SAFETY: as C says.
    unsafe {
        receive::<K>(Needs::Dispatching, id, buffer, |object, buffer| object.trcv(buffer, Timeout::FOREVER, Anywhere))
    }
}

/// See [`MessageBuffer::prcv`].
pub unsafe fn prcv_mbf<K: Kernel>(id: Id, buffer: *mut u8) -> Er {
    // SAFETY: as C says.
    unsafe { receive::<K>(Needs::Task, id, buffer, |object, buffer| object.prcv(buffer, Anywhere)) }
}

/// See [`MessageBuffer::trcv`].
pub unsafe fn trcv_mbf<K: Kernel>(id: Id, buffer: *mut u8, tmo: u32) -> Er {
    // SAFETY: as C says.
    unsafe {
        receive::<K>(Needs::Dispatching, id, buffer, |object, buffer| object.trcv(buffer, timeout::<K>(tmo)?, Anywhere))
    }
}

/// T_RMBF.
#[repr(C)]
pub struct Rmbf {
    stskid: Id,
    rtskid: Id,
    smbfcnt: u32,
    fmbfsz: usize,
}

/// See [`MessageBuffer::refer`].
pub unsafe fn ref_mbf<K: Kernel>(number: Id, told: *mut Rmbf) -> Er {
    let result = MessageBuffer::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    let result = result.map(|(sender, receiver, count, fmbfsz)| Rmbf {
        stskid: id(sender),
        rtskid: id(receiver),
        smbfcnt: count as u32,
        fmbfsz,
    });
    // SAFETY: as C says.
    unsafe { give(told, result) }
}

/// See [`MemoryPool::get`].
pub unsafe fn get_mpf<K: Kernel>(id: Id, block: *mut *mut u8) -> Er {
    // SAFETY: as C says.
    unsafe { tget_mpf::<K>(id, block, u32::MAX) }
}

/// See [`MemoryPool::pget`].
pub unsafe fn pget_mpf<K: Kernel>(id: Id, block: *mut *mut u8) -> Er {
    let result = MemoryPool::<K, _>::by_number_for(Needs::Task, id).and_then(|pool| pool.pget(Anywhere));
    // SAFETY: as C says.
    unsafe { give(block, result.map(|block: Block| block.as_ptr())) }
}

/// See [`MemoryPool::tget`].
pub unsafe fn tget_mpf<K: Kernel>(id: Id, block: *mut *mut u8, tmo: u32) -> Er {
    let result = (|| MemoryPool::<K, _>::by_number_for(Needs::Dispatching, id)?.tget(timeout::<K>(tmo)?, Anywhere))();
    // SAFETY: as C says.
    unsafe { give(block, result.map(|block: Block| block.as_ptr())) }
}

/// See [`MemoryPool::rel_at`].
pub unsafe fn rel_mpf<K: Kernel>(id: Id, block: *mut u8) -> Er {
    // SAFETY: as C says.
    er(MemoryPool::<K, _>::by_number_for(Needs::Task, id).and_then(|pool| unsafe { pool.rel_at(block, Anywhere) }))
}

/// See [`MemoryPool::ini`].
pub unsafe fn ini_mpf<K: Kernel>(id: Id) -> Er {
    // SAFETY: as C says.
    er(MemoryPool::<K, _>::by_number_for(Needs::Task, id).and_then(|pool| unsafe { pool.ini(Anywhere) }))
}

/// T_RMPF.
#[repr(C)]
pub struct Rmpf {
    wtskid: Id,
    fblkcnt: u32,
}

/// See [`MemoryPool::refer`].
pub unsafe fn ref_mpf<K: Kernel>(number: Id, told: *mut Rmpf) -> Er {
    let result = MemoryPool::<K, _>::by_number_for(Needs::Task, number).and_then(|object| object.refer(Anywhere));
    // SAFETY: as C says.
    unsafe { give(told, result.map(|(first, free)| Rmpf { wtskid: id(first), fblkcnt: free as u32 })) }
}
