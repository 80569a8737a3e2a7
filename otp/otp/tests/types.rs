//! The types that derived data has in Erlang. How values go back and forth is tested in a VM: see `otp/tests`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use otp::data::types::collect;
use otp::{Any, Bytes, Data, Name};

#[derive(Data)]
struct Options {
    start: i64,
    name: Option<String>,
    #[otp(default)]
    retries: u32,
    #[otp(rename = "maxTime", default = Duration::from_secs(5))]
    max_time: Duration,
}

#[derive(Data)]
#[otp(open)]
struct Open {
    r#type: Name,
}

#[derive(Data)]
#[otp(record)]
struct Point {
    x: f32,
    to_the_right: bool,
}

#[derive(Data)]
struct Celsius(i16);

#[derive(Data)]
struct Pair(Celsius, Bytes);

#[derive(Data)]
#[otp(rename = "Elixir.Ready")]
struct Ready;

#[derive(Data)]
enum Command {
    Stop,
    #[otp(rename = "receive")]
    Take(u8, Any),
    Move {
        by: [u32; 2],
    },
}

/// A tree.
#[derive(Clone, Data)]
enum Tree {
    Leaf,
    Node(Box<Tree>, i64, Box<Tree>),
}

#[derive(Data)]
struct Page<T, const N: usize>
where
    T: Clone,
{
    items: Vec<T>,
    #[otp(default)]
    last: Option<T>,
    #[otp(default)]
    next: Vec<Page<T, N>>,
}

fn structure<T: Data>() -> String {
    T::erlang_type()
}

#[test]
fn every_kind_of_type_has_its_form() {
    assert_eq!(
        structure::<Options>(),
        "#{start := integer(), name => binary() | undefined, retries => non_neg_integer(), maxTime => non_neg_integer()}"
    );
    assert_eq!(structure::<Open>(), "#{type := atom(), term() => term()}");
    assert_eq!(structure::<Point>(), "{point, X :: float() | infinity | neg_infinity | nan, ToTheRight :: boolean()}");
    assert_eq!(structure::<Pair>(), "{pair, integer(), binary()}");
    assert_eq!(structure::<Ready>(), "'Elixir.Ready'");
    assert_eq!(
        structure::<Command>(),
        "stop | {'receive', non_neg_integer(), term()} | {move, #{by := {non_neg_integer(), non_neg_integer()}}}"
    );
    assert_eq!(structure::<HashMap<Name, HashSet<char>>>(), "#{atom() => [char()]}");
}

#[test]
fn a_type_that_contains_itself_has_an_end() {
    assert_eq!(structure::<Tree>(), "leaf | {node, term(), integer(), term()}");
    // Also where it stands twice beside itself.
    assert_eq!(
        structure::<(Tree, Tree)>(),
        "{leaf | {node, term(), integer(), term()}, leaf | {node, term(), integer(), term()}}"
    );
}

#[test]
fn types_have_names_where_somebody_collects_them() {
    let (texts, types) = collect(&[], || {
        [structure::<Tree>(), structure::<BTreeMap<String, Pair>>(), structure::<Option<Page<Tree, 3>>>()]
    });
    assert_eq!(texts, ["tree()", "#{binary() => pair()}", "page_tree_3() | undefined"]);
    let written: Vec<_> = types.iter().map(|ty| format!("{}() :: {}", ty.name, ty.definition)).collect();
    assert_eq!(
        written,
        [
            "tree() :: leaf | {node, tree(), integer(), tree()}",
            "pair() :: {pair, celsius(), binary()}",
            "celsius() :: integer()",
            "page_tree_3() :: #{items := [tree()], last => tree() | undefined, next => [page_tree_3()]}",
        ]
    );
    assert_eq!(types[0].about.trim(), "A tree.");
    assert_eq!(structure::<Celsius>(), "integer()", "nobody collects any more");
}
