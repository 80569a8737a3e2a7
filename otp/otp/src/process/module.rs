//! The names of the behaviours' modules in Erlang.
//!
//! A VM has one module of a name, whatever application it belongs to. So the application's name stands in front of a behaviour's own,
//! as in `shop_ledger`, unless the user gives the module a name. It is that of the application that the behaviour is linked into, so two
//! applications can use one library of behaviours.

use std::sync::OnceLock;

use crate::nif::Atom;
use crate::process::description::Application;

/// The name of a behaviour's module, as the attribute of the behaviour has it.
#[derive(Debug)]
pub struct Module {
    name: &'static str,
    given: bool,
    atom: OnceLock<Atom>,
}

impl Module {
    /// The name that `module = "…"` gives.
    pub const fn given(name: &'static str) -> Self {
        Self { name, given: true, atom: OnceLock::new() }
    }

    /// The name of the type or function, in snake_case.
    pub const fn own(name: &'static str) -> Self {
        Self { name, given: false, atom: OnceLock::new() }
    }

    /// The whole name, which is the same in all builds.
    pub fn atom(&self) -> &Atom {
        self.atom.get_or_init(|| {
            let application = inventory::iter::<Application>().next().filter(|_| !self.given);
            Atom::new(match application {
                // Once for each behaviour of the library, which stays in memory.
                Some(application) => Box::leak(in_application(application.name, self.name).into_boxed_str()),
                None => self.name,
            })
        })
    }
}

/// `shop_ledger`, of the application `shop` and the behaviour `ledger`; a name that begins with the application's own stays as it is.
pub fn in_application(application: &str, name: &str) -> String {
    let application = application.replace('-', "_");
    match name.strip_prefix(&application) {
        Some(rest) if rest.is_empty() || rest.starts_with('_') => name.to_owned(),
        _ => format!("{application}_{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_applications_name_stands_in_front_once() {
        let named = ["ledger", "shop", "shop_ledger", "shopping"].map(|name| in_application("shop", name));
        assert_eq!(named, ["shop_ledger", "shop", "shop_ledger", "shop_shopping"]);
        assert_eq!(in_application("web-shop", "ledger"), "web_shop_ledger");
    }
}
