//! The programs that compare actor systems, written for OTP in Rust: an actor is a gen_server, a message a cast.
//! `lab/workloads/src/actors` describes the programs.

mod ask;
mod beside;
mod big;
mod creation;
mod fork_join;
mod pingpong;
mod program;
mod recover;
mod ring;

use std::collections::BTreeMap;

use otp::{Any, Init, Name, Tree, gen_server, one_for_one, supervisor};

pub use program::{Params, Parts};

otp::application!(root);

/// Nothing: the runner is started by whoever asks for a program.
#[supervisor]
pub fn root() -> Tree {
    one_for_one()
}

/// Does one program.
#[derive(Debug)]
pub struct Runner;

#[gen_server]
impl Runner {
    fn init() -> Init<Self> {
        Ok(Runner)
    }

    /// The samples of each part, or what the program wrongly came to.
    #[call]
    async fn run(&mut self, program: Name, params: BTreeMap<Name, Any>) -> Result<Parts, String> {
        let params = Params::of(params);
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
