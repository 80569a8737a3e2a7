//! A server that gives back what it is sent: a call for every kind of type.
//!
//! The answer is the same term, except from the calls whose names begin with `near_`: their types take several terms for one
//! value, so only their answer, sent again, comes back the same. `fuzz.erl` relies on these names.

pub mod handles;
pub mod hoarder;
pub mod named;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use otp::{
    Any, Bytes, CallError, Data, Init, Name, Pid, Reason, Server, StartError, Tree as Supervised, gen_server,
    one_for_one, supervisor, worker,
};

otp::application!(echo_root);

#[supervisor(module = "echo_root")]
pub fn echo_root() -> Supervised {
    one_for_one().child(worker::<Echo>(()).name("the_echo"))
}

/// A map with keys of every kind.
#[derive(Clone, Debug, Data)]
pub struct Options {
    start: i64,
    name: Option<Name>,
    #[otp(default)]
    retries: u8,
    #[otp(default = Duration::from_secs(5), rename = "maxTime")]
    max_time: Duration,
}

#[derive(Clone, Debug, Data)]
#[otp(open)]
pub struct Opened {
    kind: Name,
}

#[derive(Clone, Debug, Data)]
pub struct Closed {
    kind: Name,
    r#type: Pair<u8>,
}

#[derive(Clone, Debug, Data)]
#[otp(record)]
pub struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Debug, Data)]
pub struct Celsius(f64);

#[derive(Clone, Debug, Data)]
pub struct Pair<T>(T, T);

#[derive(Clone, Copy, Debug, Data)]
pub struct Ready;

#[derive(Clone, Debug, Data)]
pub enum Command {
    Stop,
    /// A name that no atom of Latin-1 has.
    Πίσω,
    #[otp(rename = "it's")]
    Größe(u8),
    #[otp(rename = "receive")]
    Take(u8, Any),
    Take3(u8, u8, Ready),
    MoveBy {
        by: [i32; 2],
        fast: bool,
    },
}

/// A tree, which may be of any depth where it comes from.
#[derive(Clone, Debug, Data)]
pub enum Tree {
    Leaf,
    Node(Box<Tree>, i64, Box<Tree>),
    Nodes(Vec<Tree>),
    Named(HashMap<Name, Tree>),
    Shared { tree: Arc<Tree> },
}

/// What Elixir defines by `defmodule Shop.User do defstruct [:name, :email] end`.
#[derive(Clone, Debug, Data)]
#[otp(struct = "Elixir.Shop.User")]
pub struct User {
    name: String,
    email: Option<String>,
}

/// What is only lists of itself.
#[derive(Clone, Debug, Data)]
pub struct Lists(Vec<Lists>);

#[derive(Debug)]
pub struct Echo;

/// A server whose calls give back their argument.
macro_rules! echo {
    ($($name:ident: $type:ty;)*) => {
        #[gen_server(module = "echo")]
        impl Echo {
            fn init() -> Init<Self> {
                Ok(Self)
            }

            $(
                #[call]
                fn $name(&mut self, value: $type) -> $type {
                    value
                }
            )*
        }
    };
}

echo! {
    int8: i8;
    int16: i16;
    int32: i32;
    int64: i64;
    word: isize;
    nat8: u8;
    nat16: u16;
    nat32: u32;
    nat64: u64;
    size: usize;
    int128: i128;
    nat128: u128;
    float: f64;
    near_float32: f32;
    truth: bool;
    nothing: ();
    letter: char;
    text: String;
    bytes: Bytes;
    name: Name;
    time: Duration;
    moment: SystemTime;
    ip4: Ipv4Addr;
    ip6: Ipv6Addr;
    ip: IpAddr;
    socket: SocketAddr;
    any: Any;
    near_maybe: Option<i64>;
    result: Result<String, Name>;
    done: Result<(), Any>;
    list: Vec<i64>;
    queue: VecDeque<bool>;
    list_of_lists: Vec<Vec<u8>>;
    boxed: Box<i64>;
    shared: Arc<String>;
    pair: (i64, bool);
    eight: (u8, i8, bool, (), Name, f64, Bytes, Any);
    address: [u8; 4];
    no_element: [u8; 0];
    rare_hundred: [i16; 100];
    map: HashMap<i64, String>;
    sorted_map: BTreeMap<Name, Vec<bool>>;
    any_map: HashMap<Any, Any>;
    near_set: HashSet<i64>;
    near_sorted_set: BTreeSet<String>;
    near_options: Options;
    near_opened: Opened;
    closed: Closed;
    record: Point;
    near_user: User;
    newtype: Celsius;
    generic: Pair<Pair<bool>>;
    unit: Ready;
    command: Command;
    tree: Tree;
    lists: Lists;
    near_reason: Reason;
    near_call_error: CallError;
    near_start_error: StartError;
    process: Pid;
    whom: Server<Echo>;
}

/// Keeps a term between calls, and lets threads of its own look at it.
#[derive(Debug)]
pub struct Keeper {
    kept: Any,
}

#[gen_server(module = "keeper")]
impl Keeper {
    /// Its name and that of its argument are no words of Erlang's as Rust has them.
    #[call]
    fn r#type(&mut self, r#match: i64) -> i64 {
        r#match
    }

    fn init(kept: Any) -> Init<Self> {
        Ok(Self { kept })
    }

    #[call]
    fn kept(&mut self) -> Any {
        self.kept.clone()
    }

    /// As it is written.
    #[call]
    fn shown(&mut self) -> String {
        format!("{:?}", self.kept)
    }

    #[call]
    fn is(&mut self, other: Any) -> bool {
        self.kept == other
    }

    /// What all of several threads that look at once find the sum to be of the numbers that are kept. A sum that is too large is
    /// an error: a panic of a thread that is no process prints where the VM prints.
    #[call]
    fn sum_in_threads(&mut self, threads: u8) -> Result<i64, String> {
        let sum = |kept: Any| {
            let numbers = kept.get::<Vec<i64>>().map_err(|wrong| wrong.to_string())?;
            numbers
                .iter()
                .try_fold(0i64, |sum, &n| sum.checked_add(n))
                .ok_or_else(|| "the sum does not fit an i64".to_owned())
        };
        let threads: Vec<_> = (0..threads.min(16))
            .map(|_| {
                let kept = self.kept.clone();
                std::thread::spawn(move || (0..100).map(|_| sum(kept.clone())).collect::<Result<Vec<_>, String>>())
            })
            .collect();
        // Every one is joined, whatever another found: dropped instead, a handle detaches its thread, and glibc 2.36's
        // `pthread_detach` has ended the VM there, rarely and under load.
        let found: Vec<_> = threads.into_iter().map(std::thread::JoinHandle::join).collect();
        let mut sums = Vec::new();
        for found in found {
            sums.extend(found.map_err(|_| "a thread panicked")??);
        }
        sums.dedup();
        if let [sum] = sums[..] { Ok(sum) } else { Err(format!("they found {sums:?}")) }
    }

    /// A tree that is so deep.
    #[call]
    fn tree_of(&mut self, levels: u8) -> Tree {
        (0..levels).fold(Tree::Leaf, |tree, _| Tree::Node(Box::new(tree), 0, Box::new(Tree::Leaf)))
    }

    #[call]
    fn no_numbers(&mut self) -> Vec<f64> {
        vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0]
    }

    /// Two keys that are one in Erlang.
    #[call]
    fn rare_ambiguous(&mut self) -> HashMap<Option<Name>, bool> {
        let undefined = Name::from(otp::atom!("undefined"));
        HashMap::from([(None, true), (Some(undefined), false)])
    }
}
