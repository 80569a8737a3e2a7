//! The programs that compare actor systems, each written for OTP in Rust: an actor is a gen_server, a message a cast. What
//! each program does is said in `lab/workloads/src/actors`.

mod ask;
mod beside;
mod big;
mod creation;
mod fork_join;
mod pingpong;
mod recover;
mod ring;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Instant;

use otp::{Any, Init, Name, Tree, gen_server, one_for_one, supervisor};

otp::application!(root);

/// Nothing: the runner is started by whoever asks for a program.
#[supervisor]
pub fn root() -> Tree {
    one_for_one()
}

/// Does one program.
#[derive(Debug)]
pub struct Runner;

/// The samples of each part of a workload.
pub type Parts = Vec<Vec<u64>>;

/// The parameters of a workload.
#[derive(Debug)]
pub struct Params(BTreeMap<Name, Any>);

impl Params {
    fn number(&self, name: &str) -> Result<u64, String> {
        let value = self.0.iter().find(|(key, _)| key.as_str() == name).map(|(_, value)| value);
        let value = value.ok_or_else(|| format!("the parameter {name} is missing"))?;
        value.get().map_err(|wrong| format!("the parameter {name}: {wrong}"))
    }
}

#[gen_server]
impl Runner {
    fn init() -> Init<Self> {
        Ok(Runner)
    }

    /// The samples of each part, or what the program wrongly came to.
    #[call]
    async fn run(&mut self, program: Name, params: BTreeMap<Name, Any>) -> Result<Parts, String> {
        let params = Params(params);
        match program.as_str() {
            "pingpong" => pingpong::run(&params).await,
            "thread-ring" => ring::run(&params).await,
            "fork-join" => fork_join::run(&params).await,
            "fork-join-create" => creation::run(&params).await,
            "big" => big::run(&params).await,
            "ask" => ask::run(&params).await,
            "beside-computing" => beside::run(&params).await,
            "recover" => recover::run(&params).await,
            other => Err(format!("there is no program {other}")),
        }
    }
}

/// The one sample of a program that began then.
fn whole(began: Instant) -> Parts {
    vec![vec![nanoseconds(began)]]
}

fn nanoseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// # Errors
/// When the program came to something else than it must.
fn check<T: PartialEq + Debug>(what: &str, got: &T, wanted: &T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what} is {got:?} and must be {wanted:?}")) }
}

/// Whatever kept the program from coming to its end.
fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}
