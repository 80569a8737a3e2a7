//! Knobs of the Erlang VM: which are flags of `erl`, and which are options of the process that does the work.

use crate::setting::Scope;
use crate::settings::Settings;

/// The names of flags begin so; what follows is the flag without its plus sign.
const FLAG: &str = "vm_";

/// The arguments of `erl` that ask for `settings`, in a fixed order: `+sbt`, `db`, ….
pub fn flags(settings: &Settings) -> Vec<String> {
    let of_beam = settings.of(Scope::Beam).written();
    let flags = of_beam.into_iter().filter_map(|(name, value)| Some((format!("+{}", name.strip_prefix(FLAG)?), value)));
    flags.flat_map(|(flag, value)| [flag, value]).collect()
}

/// The options of `spawn_opt` that ask for `settings`: name and value.
pub fn spawn_options(settings: &Settings) -> Vec<(String, String)> {
    settings.of(Scope::Beam).written().into_iter().filter(|(name, _)| !name.starts_with(FLAG)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_to_the_vm_and_options_to_its_process() {
        let given = [("vm_sbt", "db"), ("vm_S", "2"), ("priority", "high"), ("nice", "1"), ("min_heap_size", "6765")];
        let given = given.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
        let settings = Settings::new(&given).expect("valid");
        assert_eq!(flags(&settings), ["+S", "2", "+sbt", "db"]);
        let options = spawn_options(&settings);
        assert_eq!(options, [("min_heap_size".into(), "6765".into()), ("priority".into(), "high".into())]);
    }
}
