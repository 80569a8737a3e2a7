//! `cargo otp add`: adds a behaviour to an application, as a file of its own and a line of lib.rs that names it.

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use otp::generate::in_application;

use super::templates::{Values, as_type, behaviour, behaviours};
use crate::erlang::Erlang;
use crate::project::{Project, What};
use crate::{names, say};

#[derive(Args, Clone, Debug)]
pub(crate) struct Addition {
    /// The name of the module in Rust; in Erlang the application's name stands in front
    name: String,
    /// Which behaviour of OTP it is
    #[arg(short, long, value_name = "BEHAVIOUR", default_value = "gen_server", alias = "behavior",
          value_parser = kinds())]
    behaviour: String,
}

/// The behaviours by OTP's names; `gen_` may be left out.
fn kinds() -> impl TypedValueParser<Value = String> {
    let named = |name| PossibleValue::new(name).aliases(short(name));
    let all = behaviours();
    PossibleValuesParser::new(all.iter().copied().map(named)).map(move |said| {
        let meant = all.iter().find(|name| short(name) == Some(said.as_str()));
        meant.map_or(said, |name| (*name).to_owned())
    })
}

fn short(behaviour: &str) -> Option<&str> {
    behaviour.strip_prefix("gen_")
}

pub(crate) fn add(what: &What, addition: &Addition) -> Result<()> {
    let Addition { name, behaviour: kind } = addition;
    let project = Project::find(what)?;
    let erlang = Erlang::known(&project.output().join("erlang.json")).ok();
    names::may_be_called(name, "a behaviour", None)?;
    let module = in_application(&project.name, name);
    names::may_be_called(&module, "the module of a behaviour", erlang.as_ref())?;
    let source = project.folder().join("src");
    let (lib, file) = (source.join("lib.rs"), source.join(format!("{name}.rs")));
    let before = fs::read_to_string(&lib).with_context(|| format!("cannot read {}", lib.display()))?;
    let after = with_module(&before, name);
    if file.exists() || after == before {
        bail!("there is a module `{name}` in {} already: choose another name", source.display());
    }
    let text =
        behaviour(kind, &Values { name, otp: "" }).with_context(|| format!("there is no template for {kind}"))?;
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    if let Err(error) = fs::write(&lib, after) {
        // Both or none: the same again would find the module there.
        let _ = fs::remove_file(&file);
        return Err(error).with_context(|| format!("cannot write {}", lib.display()));
    }
    say::step("Added", format_args!("{kind} `{module}` in {}", file.display()));
    say::note(next(kind, name));
    Ok(())
}

/// What makes a part of the application of it, wherever it will stand.
fn next(kind: &str, name: &str) -> String {
    let ty = as_type(name);
    let child = match kind {
        "supervisor" => format!("otp::supervisor::<crate::{name}::{name}>(())"),
        "gen_event" => format!("otp::events::<crate::{name}::{ty}Event>(\"{name}_events\")"),
        _ => format!("otp::worker::<crate::{name}::{ty}>(()).name(\"{name}\")"),
    };
    if kind == "gen_event" {
        return format!(
            "it handles what a manager of events is told. The manager is a child of a supervisor; add to its tree:\n\n    \
             .child({child})\n\nThe handler is added by a process of yours, in its `async fn init`:\n\n    \
             otp::EventManager::<crate::{name}::{ty}Event>::named(\"{name}_events\").add_sup_handler::<crate::{name}::{ty}>(()).await?;\n"
        );
    }
    format!("it is started as a child of a supervisor; add to its tree:\n\n    .child({child})\n")
}

/// The source with `mod name;` after its other modules, or before its first item; as it was when the module is there.
fn with_module(source: &str, name: &str) -> String {
    let declared = |line: &str| -> Option<String> {
        let rest = line.trim_end().strip_suffix(';')?;
        let (before, module) = rest.rsplit_once("mod ")?;
        let visible = before.is_empty() || (before.starts_with("pub") && before.ends_with(' '));
        visible.then(|| module.trim().to_owned())
    };
    let lines: Vec<&str> = source.lines().collect();
    if lines.iter().any(|line| declared(line).as_deref() == Some(name)) {
        return source.to_owned();
    }
    let module = format!("mod {name};");
    let mut all: Vec<&str> = lines.clone();
    match lines.iter().rposition(|line| declared(line).is_some()) {
        Some(last) => {
            // Where rustfmt would have it among those that stand together, if they are in order.
            let group = lines[..=last].iter().rposition(|line| declared(line).is_none()).map_or(0, |line| line + 1);
            let before = |line: &&str| declared(line).is_some_and(|module| module.as_str() < name);
            all.insert(group + lines[group..=last].iter().take_while(|line| before(line)).count(), &module);
        }
        None => {
            let inner = |line: &&str| line.starts_with("//!") || line.starts_with("#![") || line.trim().is_empty();
            let first = lines.iter().position(|line| !inner(line)).unwrap_or(lines.len());
            all.splice(first..first, [module.as_str(), ""]);
        }
    }
    all.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaviours_have_otps_names_and_short_ones() {
        let meant = |said: &str| {
            let command = Addition::augment_args(clap::Command::new("add"));
            let matches = command.try_get_matches_from(["add", "name", "--behaviour", said]);
            matches.ok()?.get_one::<String>("behaviour").cloned()
        };
        for (short, whole) in [("server", "gen_server"), ("statem", "gen_statem"), ("event", "gen_event")] {
            assert_eq!([meant(short), meant(whole)], [(); 2].map(|()| Some(whole.to_owned())));
        }
        assert_eq!(meant("supervisor").as_deref(), Some("supervisor"));
        assert_eq!(meant("gen_fsm"), None);
    }

    #[test]
    fn a_module_is_named_where_modules_are() {
        assert_eq!(with_module("//! A.\n\nuse b;\n", "new"), "//! A.\n\nmod new;\n\nuse b;\n");
        assert_eq!(
            with_module("//! A.\nmod a;\npub(crate) mod z;\nuse z;\n", "new"),
            "//! A.\nmod a;\nmod new;\npub(crate) mod z;\nuse z;\n"
        );
        assert_eq!(with_module("mod z;\n\nmod a;\n", "new"), "mod z;\n\nmod a;\nmod new;\n");
        assert_eq!(with_module("", "new"), "mod new;\n\n");
        for there in ["mod new;\n", "pub mod new;\n"] {
            assert_eq!(with_module(there, "new"), there);
        }
    }
}
