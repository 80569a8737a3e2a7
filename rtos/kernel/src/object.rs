//! What handles of all kinds have in common.

/// Defines the handle of a kind of object: where its block is, and the domain that it belongs to.
macro_rules! handle {
    ($(#[$about:meta])* $handle:ident, $block:ident, $table:ident) => {
        $(#[$about])*
        pub struct $handle<K: $crate::kernel::Kernel, D> {
            pub(crate) block: &'static $block<K>,
            pub(crate) domain: D,
        }

        impl<K: $crate::kernel::Kernel, D: Copy> Clone for $handle<K, D> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<K: $crate::kernel::Kernel, D: Copy> Copy for $handle<K, D> {}

        impl<K: $crate::kernel::Kernel> $handle<K, $crate::context::Placed> {
            /// The object of that ITRON number, from 1. E_ID if there is none.
            #[inline(always)]
            pub fn by_number(number: i32) -> Result<Self, $crate::error::Error> {
                let entry = K::$table().get((number as usize).wrapping_sub(1)).ok_or($crate::error::Error::ID)?;
                Ok($handle { block: entry.block, domain: entry.domain })
            }
        }

        impl<K: $crate::kernel::Kernel, D: $crate::context::Domain> $handle<K, D> {
            /// The handle of an object; `kernel!` makes it.
            pub const fn new(block: &'static $block<K>) -> Self {
                $handle { block, domain: D::SELF }
            }

            /// Its entry in the table of its kind.
            pub const fn numbered(&self) -> $crate::kernel::Numbered<$block<K>> {
                $crate::kernel::Numbered::new(self.block, $crate::context::Placed::of::<D>())
            }

            /// Enters a service that tasks and handlers may call.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter<C: $crate::context::Context>(
                self,
                cx: C,
            ) -> Result<$crate::service::Service<K, D, C>, $crate::error::Error> {
                $crate::service::Service::enter(self.domain, cx)
            }

            /// Enters a service that only tasks may call.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter_in_task<C: $crate::context::Context>(
                self,
                cx: C,
            ) -> Result<$crate::service::Service<K, D, C>, $crate::error::Error> {
                let service = self.enter(cx)?;
                if service.in_task() { Ok(service) } else { service.leave(Err($crate::error::Error::CTX)) }
            }

            /// Enters a service in which the calling task may have to wait.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter_to_wait<C: $crate::context::Context>(
                self,
                cx: C,
            ) -> Result<$crate::service::Service<K, D, C>, $crate::error::Error> {
                let service = self.enter(cx)?;
                match service.may_wait() {
                    Ok(()) => Ok(service),
                    Err(error) => service.leave(Err(error)),
                }
            }
        }
    };
}

pub(crate) use handle;
