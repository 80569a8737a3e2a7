//! `handle!`: the handle of a kind of object, and the ways into its services.

/// Defines the handle of a kind of object: where its block is, and the domain that it belongs to.
macro_rules! handle {
    ($(#[$about:meta])* $handle:ident, $block:ident) => {
        $(#[$about])*
        pub struct $handle<K: $crate::state::storage::Storage, D> {
            pub(crate) block: &'static $block<K>,
            pub(crate) domain: D,
        }

        impl<K: $crate::state::storage::Storage, D: Copy> Clone for $handle<K, D> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<K: $crate::state::storage::Storage, D: Copy> Copy for $handle<K, D> {}

        impl<K: $crate::state::storage::Storage, D: $crate::base::context::Domain> $handle<K, D> {
            /// The handle of an object; `kernel!` makes it.
            pub const fn new(block: &'static $block<K>) -> Self {
                $handle { block, domain: D::SELF }
            }

            /// Its entry in the table of its kind.
            pub const fn numbered(&self) -> $crate::state::storage::Numbered<$block<K>> {
                $crate::state::storage::Numbered::new(self.block, $crate::base::context::Placed::of::<D>())
            }

            /// Enters a service that tasks and handlers may call.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter<C: $crate::base::context::Context>(
                self,
                cx: C,
            ) -> Result<$crate::service::frame::Service<K, D, C>, $crate::base::error::Error> {
                $crate::service::frame::Service::enter(self.domain, cx)
            }

            /// Enters a service that only tasks may call.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter_in_task<C: $crate::base::context::Context>(
                self,
                cx: C,
            ) -> Result<$crate::service::frame::Service<K, D, C>, $crate::base::error::Error> {
                $crate::service::frame::Service::enter_in_task(self.domain, cx)
            }

            /// Enters a service in which the calling task may have to wait.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter_to_wait<C: $crate::base::context::Context>(
                self,
                cx: C,
            ) -> Result<$crate::service::frame::Service<K, D, C>, $crate::base::error::Error> {
                self.enter_to_wait_with(cx, true)
            }

            /// The same for a service with arguments: E_PAR unless they are `sound`.
            #[inline(always)]
            #[allow(dead_code)]
            fn enter_to_wait_with<C: $crate::base::context::Context>(
                self,
                cx: C,
                sound: bool,
            ) -> Result<$crate::service::frame::Service<K, D, C>, $crate::base::error::Error> {
                $crate::service::frame::Service::enter_to_wait(self.domain, cx, sound)
            }
        }
    };
}

pub(crate) use handle;
