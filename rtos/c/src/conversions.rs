//! Conversions between the arguments and results of C functions and the kernel's types: numbers of objects, error
//! codes, time-outs, pointers for results. Every C function uses them.
//!
//! A conversion that refuses an argument is told what the service needs of its context, because a context that does not
//! fit is told first.

use rtos::{Error, Kernel, Needs, Timeout};

/// A number of an object, a processor or a task.
pub type Id = i32;
/// What a service gives: E_OK or an error.
pub type Er = i32;
/// True or false: a `bool_t`, which is an `int`.
pub type Bool = i32;

const OK: Er = 0;

/// What a service gives as C has it.
pub(crate) fn er(result: Result<(), Error>) -> Er {
    rtos::code(result)
}

/// A number, or an error, in one value: ER_UINT.
pub(crate) fn er_uint(result: Result<u32, Error>) -> Er {
    match result {
        Ok(value) => value as Er,
        Err(error) => error.code(),
    }
}

/// Puts what a service gives where C wants it.
///
/// # Safety
/// The place can be written, if the service has succeeded.
pub(crate) unsafe fn give<T>(place: *mut T, result: Result<T, Error>) -> Er {
    match result {
        // SAFETY: as the caller says.
        Ok(value) => unsafe {
            place.write(value);
            OK
        },
        Err(error) => error.code(),
    }
}

/// A task's number, or TSK_NONE.
pub(crate) fn id(number: Option<usize>) -> Id {
    number.map_or(0, |number| number as Id)
}

/// A processor, counted from 1, as the kernel counts it; none for TPRC_INI.
pub(crate) fn processor(number: Id) -> Option<usize> {
    (number != 0).then_some((number as usize).wrapping_sub(1))
}

/// A time-out in microseconds, TMO_POL or TMO_FEVR, of a service that waits.
pub(crate) fn timeout<K: Kernel>(tmo: u32) -> Result<Timeout, Error> {
    Timeout::from_tmo(tmo).map_err(|error| rtos::refused::<K>(Needs::Dispatching, error))
}

/// Calls a service of the object of that number. Services stand under what they need of their context.
macro_rules! of_object {
    ($($needs:ident {$(
        $name:ident($($argument:ident: $type:ty),*) => $kind:ident::$method:ident($($value:expr),*);
    )*})*) => {
        $($(
            #[doc = concat!("See [`rtos::", stringify!($kind), "::", stringify!($method), "`].")]
            pub unsafe fn $name<K: rtos::Kernel>(
                id: $crate::conversions::Id $(, $argument: $type)*
            ) -> $crate::conversions::Er {
                $crate::conversions::er((|| {
                    let object = rtos::$kind::<K, rtos::Placed>::by_number_for(rtos::Needs::$needs, id)?;
                    object.$method($($value,)* rtos::Anywhere)
                })())
            }
        )*)*
    };
}

pub(crate) use of_object;
