//! What a profile of cargo's says of panics. With `panic = "abort"` the first panic of a process would end the VM.
//!
//! The library does not compile under such a profile either; this is told before anything is compiled, with the place of the setting.
//! Cargo's own configuration files are left to the library.

use std::env;
use std::fs;

use anyhow::{Context, Result, bail};
use toml::Table;

use crate::project::{Project, What};

/// # Errors
/// When the profile of this build says `panic = "abort"`.
pub(super) fn unwinds(what: &What, project: &Project) -> Result<()> {
    let manifest = project.workspace.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    // What is wrong in it cargo has said.
    let manifest_says: Table = text.parse().unwrap_or_default();
    let profiles = manifest_says.get("profile").and_then(|profiles| profiles.as_table()).cloned().unwrap_or_default();
    let Some((setting, by)) = setting(&profiles, what.profile_name(), |name| env::var(name).ok()) else {
        return Ok(());
    };
    if setting != "abort" {
        return Ok(());
    }
    let place = match by {
        By::Variable(name) => format!("the variable {name} says `abort`"),
        By::Profile(name) => format!("[profile.{name}] in {} says `panic = \"abort\"`", manifest.display()),
    };
    bail!(
        "{place}, and with that the first panic of any process would end the whole Erlang VM: take it away, or build with a profile \
         of its own for the VM:\n\n    [profile.vm]\n    inherits = \"{}\"\n    panic = \"unwind\"\n\nand `--profile vm`",
        what.profile_name()
    )
}

/// Who has the word on a setting.
#[derive(Debug, PartialEq)]
enum By {
    Variable(String),
    Profile(String),
}

/// What is said of panics for a profile, by cargo's rules: a variable of the environment, the profile, what it inherits from.
fn setting(profiles: &Table, name: &str, variable: impl Fn(&str) -> Option<String>) -> Option<(String, By)> {
    let mut name = name.to_owned();
    // A profile that inherits from itself is cargo's to refuse.
    for _ in 0..=profiles.len() + 1 {
        let by = format!("CARGO_PROFILE_{}_PANIC", name.to_uppercase().replace('-', "_"));
        if let Some(said) = variable(&by) {
            return Some((said, By::Variable(by)));
        }
        let profile = profiles.get(&name).and_then(|profile| profile.as_table());
        let text = |key: &str| profile?.get(key)?.as_str().map(str::to_owned);
        if let Some(said) = text("panic") {
            return Some((said, By::Profile(name)));
        }
        name = text("inherits").or_else(|| (name == "bench").then(|| "release".to_owned()))?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{By, setting};

    #[test]
    fn it_is_that_of_the_variable_of_the_profile_or_of_what_it_inherits_from() {
        let profiles =
            "[release]\npanic = \"abort\"\n[vm]\ninherits = \"release\"\npanic = \"unwind\"\n[small]\ninherits = \
                        \"release\"\n[a]\ninherits = \"b\"\n[b]\ninherits = \"a\""
                .parse()
                .expect("a table");
        let said = |name: &str| setting(&profiles, name, |_| None);
        let by = |says: &str, name: &str| Some((says.to_owned(), By::Profile(name.to_owned())));
        assert_eq!((said("release"), said("bench")), (by("abort", "release"), by("abort", "release")));
        assert_eq!((said("vm"), said("small")), (by("unwind", "vm"), by("abort", "release")));
        assert_eq!((said("dev"), said("a"), said("none")), (None, None, None));
        let variable = |name: &str| (name == "CARGO_PROFILE_MY_OWN_PANIC").then(|| "abort".to_owned());
        let expected = Some(("abort".to_owned(), By::Variable("CARGO_PROFILE_MY_OWN_PANIC".to_owned())));
        assert_eq!(setting(&profiles, "my-own", variable), expected);
    }
}
