//! Types in Erlang's notation, for the `-type` and `-spec` lines of the generated modules.
//!
//! A type that a user defines has a name in Erlang too. The generator of a module [collects](collect) the types that the module
//! mentions, so that a `-spec` says `device()` and a `-type` says what that is; a type that contains itself can be written in no other
//! way. Outside of a collection [`Data::erlang_type`](super::Data::erlang_type) gives the structure itself, in which a type that
//! occurs within itself is `term()`.

use std::cell::RefCell;

/// A type with a name: `-type name() :: definition.`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// As it is written, without the parentheses.
    pub name: String,
    pub definition: String,
    /// What the user's documentation says of it.
    pub about: &'static str,
    /// Which type of Rust it is.
    rust: &'static str,
}

#[derive(Default)]
struct State {
    /// What was found, when somebody collects.
    collected: Option<Vec<Type>>,
    /// The names that no type of theirs may have.
    taken: Vec<&'static str>,
    /// The types whose structure is being written, when nobody does.
    open: Vec<&'static str>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Runs `body`, in which types of the user's are called by their names, of which none is in `taken`; gives what they are besides,
/// in the order in which they were first spoken of.
pub fn collect<R>(taken: &[&'static str], body: impl FnOnce() -> R) -> (R, Vec<Type>) {
    /// Puts back what was before, also when the body panics.
    struct Before(Option<State>);
    impl Drop for Before {
        fn drop(&mut self) {
            STATE.set(self.0.take().unwrap_or_default());
        }
    }
    let state = State { collected: Some(Vec::new()), taken: taken.to_vec(), open: Vec::new() };
    let before = Before(Some(STATE.replace(state)));
    let result = body();
    let found = STATE.with_borrow_mut(|state| state.collected.take());
    drop(before);
    (result, found.unwrap_or_default())
}

/// How the type that Rust calls `rust` is written where it is spoken of. `name` is what it is called in Erlang, and its
/// arguments, if it has any, are taken from `rust`.
pub fn named(rust: &'static str, name: &str, about: &'static str, definition: impl FnOnce() -> String) -> String {
    /// What the borrow comes to; the definition is asked for after it, as it speaks of other types.
    enum Found {
        Known(String),
        Place(usize),
        Open,
    }
    let found = STATE.with_borrow_mut(|state| match &mut state.collected {
        Some(types) => match types.iter().find(|known| known.rust == rust) {
            Some(known) => Found::Known(format!("{}()", known.name)),
            None => {
                let name = unlike(&called(name, rust), &state.taken, types);
                types.push(Type { name, definition: String::new(), about, rust });
                Found::Place(types.len() - 1)
            }
        },
        None if state.open.contains(&rust) => Found::Known("term()".into()),
        None => {
            state.open.push(rust);
            Found::Open
        }
    });
    match found {
        Found::Known(text) => text,
        Found::Place(place) => {
            let definition = definition();
            STATE.with_borrow_mut(|state| {
                let known = state.collected.as_mut().and_then(|types| types.get_mut(place));
                known.map_or_else(
                    || definition.clone(),
                    |known| {
                        known.definition.clone_from(&definition);
                        format!("{}()", known.name)
                    },
                )
            })
        }
        Found::Open => {
            struct Close;
            impl Drop for Close {
                fn drop(&mut self) {
                    STATE.with_borrow_mut(|state| state.open.pop());
                }
            }
            let _close = Close;
            definition()
        }
    }
}

/// `page` of `my::Page<alloc::vec::Vec<my::Device>>` is `page_vec_device`.
fn called(name: &str, rust: &str) -> String {
    let arguments = rust.split_once('<').map_or("", |(_, arguments)| arguments);
    let words = arguments.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
    let words = words.filter_map(|path| path.rsplit("::").next()).filter(|word| !word.is_empty());
    words.fold(name.to_owned(), |name, word| name + "_" + &snake(word))
}

/// The name, or one like it that neither Erlang, nor who collects, nor another type has.
fn unlike(name: &str, taken: &[&str], types: &[Type]) -> String {
    /// What Erlang has already, in one release or another.
    const ERLANGS: [&str; 52] = [
        "any",
        "arity",
        "atom",
        "binary",
        "bitstring",
        "bool",
        "boolean",
        "byte",
        "char",
        "cons",
        "deque",
        "dict",
        "digraph",
        "dynamic",
        "float",
        "fun",
        "function",
        "gb_set",
        "gb_tree",
        "identifier",
        "integer",
        "iodata",
        "iolist",
        "list",
        "map",
        "maybe_improper_list",
        "mfa",
        "module",
        "neg_integer",
        "nil",
        "no_return",
        "node",
        "non_neg_integer",
        "none",
        "nonempty_binary",
        "nonempty_bitstring",
        "nonempty_list",
        "nonempty_maybe_improper_list",
        "nonempty_string",
        "number",
        "pid",
        "port",
        "pos_integer",
        "queue",
        "record",
        "reference",
        "set",
        "string",
        "term",
        "tid",
        "timeout",
        "tuple",
    ];
    let plain = if ERLANGS.contains(&name) || taken.contains(&name) { format!("the_{name}") } else { name.into() };
    let mut numbered = (1_u32..).map(|number| match number {
        1 => atom(&plain),
        number => atom(&format!("{plain}_{number}")),
    });
    numbered.find(|name| !types.iter().any(|other| other.name == *name)).unwrap_or_default()
}

/// `DeviceGateway` as Erlang has names: `device_gateway`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// An atom as it is written: in quotes unless it is plain and no reserved word.
pub fn atom(name: &str) -> String {
    const RESERVED: [&str; 29] = [
        "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case", "catch", "cond",
        "div", "else", "end", "fun", "if", "let", "maybe", "not", "of", "or", "orelse", "receive", "rem", "try",
        "when", "xor",
    ];
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '@');
    if plain && !RESERVED.contains(&name) {
        return name.to_owned();
    }
    let mut quoted = String::from("'");
    for letter in name.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted += &format!("\\x{{{:x}}}", u32::from(letter)),
            letter => quoted.push(letter),
        }
    }
    quoted + "'"
}

/// A variable: `retry_after` is `RetryAfter`.
pub fn variable(name: &str) -> String {
    let mut variable = String::new();
    for word in name.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        variable.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        variable.extend(letters);
    }
    if variable.starts_with(|first: char| first.is_ascii_uppercase()) { variable } else { format!("The{variable}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_erlang_has_them() {
        assert_eq!(
            ["plain_1", "receive", "Upper", "it's", "a@b", "", "tab\t", "Ω"].map(atom),
            ["plain_1", "'receive'", "'Upper'", "'it\\'s'", "a@b", "''", "'tab\\x{9}'", "'Ω'"]
        );
        assert_eq!(
            ["n", "retry_after", "_unused", "0", "x-y"].map(variable),
            ["N", "RetryAfter", "Unused", "The0", "XY"]
        );
    }

    #[test]
    fn arguments_are_part_of_the_name() {
        assert_eq!(called("page", "my::Page"), "page");
        assert_eq!(called("page", "my::Page<alloc::vec::Vec<my::DeviceId>>"), "page_vec_device_id");
        assert_eq!(called("grid", "my::Grid<f64, 3>"), "grid_f64_3");
    }

    #[test]
    fn no_two_types_have_one_name_and_none_has_one_of_erlangs() {
        let define = |rust, name| named(rust, name, "", || "x".into());
        let two =
            || [define("a::Map", "map"), define("b::Map", "map"), define("a::Map", "map"), define("a::S", "server")];
        let (texts, types) = collect(&["server"], two);
        assert_eq!(texts, ["the_map()", "the_map_2()", "the_map()", "the_server()"]);
        assert_eq!(types.len(), 3);
        assert_eq!(collect(&[], two).0[3], "server()");
    }
}
