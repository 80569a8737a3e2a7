//! The `-type` lines of a module: its own types, and those of the user that its functions name.

use super::write::{listed, type_};
use crate::data::types::{Type, collect};
use crate::process::description::{Description, Kind};

/// What a module says of types.
pub(super) struct Types {
    /// Its own that somebody else may use: the name, what it is for, and what it is.
    own: Vec<(&'static str, &'static str, String)>,
    /// The same of those that only the module uses.
    private: Vec<(&'static str, &'static str, String)>,
    users: Vec<Type>,
}

impl Types {
    /// A behaviour as it describes itself, with the types of the user's called by their names, and these types.
    pub(super) fn of(describe: fn() -> Description) -> (Description, Self) {
        // The kind is asked for first, as a module of each has names of its own.
        let kind = describe().kind;
        let (own, private, users) = match kind {
            Kind::Server => (
                vec![
                    (
                        "server",
                        "A process, its name on this node, its name on another, or among all.",
                        "pid() | atom() | {atom(), node()} | {global, term()}".into(),
                    ),
                    ("started", "", "{ok, pid()} | ignore | {error, term()}".into()),
                ],
                Vec::new(),
                None,
            ),
            Kind::Event(events) => (
                vec![(
                    "manager",
                    "The process that has the handlers, its name on this node, or its name elsewhere.",
                    "pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}".into(),
                )],
                vec![("state", "", "{module(), reference()}".into())],
                Some(("event", "What it takes of gen_event:notify/2.", events)),
            ),
            Kind::Statem(state) => {
                (Vec::new(), vec![("data", "", "{module(), reference()}".into())], Some(("state", "", state)))
            }
            Kind::Supervisor => (Vec::new(), Vec::new(), None),
        };
        let mut types = Self { own, private, users: Vec::new() };
        let mut taken: Vec<_> = types.own.iter().chain(&types.private).map(|(name, _, _)| *name).collect();
        let Some((name, about, text)) = users else {
            let (description, users) = collect(&taken, describe);
            return (description, Self { users, ..types });
        };
        // A type of the user's that is called so is the module's own; any other is what the module's own is, by its name.
        let is_users = collect(&taken, text).0 == format!("{name}()");
        if !is_users {
            taken.push(name);
        }
        let ((definition, description), users) = collect(&taken, || (text(), describe()));
        if !is_users {
            types.own.push((name, about, definition));
        }
        (description, Self { users, ..types })
    }

    /// The attribute that has them exported, and what each of them is; nothing where there is none.
    pub(super) fn written(&self) -> String {
        let users = self.users.iter().map(|ty| (ty.name.as_str(), ty.about, &ty.definition));
        let exported: Vec<_> =
            self.own.iter().map(|(name, ..)| *name).chain(users.clone().map(|(name, ..)| name)).collect();
        if exported.is_empty() {
            return String::new();
        }
        let exported: Vec<_> = exported.iter().map(|name| format!("{name}/0")).collect();
        let mut text = listed("export_type", &exported) + "\n";
        let own = self.own.iter().chain(&self.private).map(|(name, about, definition)| (*name, *about, definition));
        let mut apart = true;
        for (name, about, definition) in own.chain(users) {
            let written = type_(name, about, definition);
            // What takes more than a line stands apart.
            let long = written.contains('\n');
            text += if apart || long { "\n" } else { "" };
            text += &(written + "\n");
            apart = long && about.trim().is_empty();
        }
        text
    }
}
