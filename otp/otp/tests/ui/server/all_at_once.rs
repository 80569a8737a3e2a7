#![allow(unused)]

use otp::{Init, Next, gen_server};

struct Counter;

#[gen_server(backwards)]
impl Counter {
    fn init() -> Init<Self> {
        Ok(Counter)
    }

    #[call]
    fn without_self(n: i64) -> i64 {
        n
    }

    #[cast]
    fn with_result(&mut self) -> i64 {
        1
    }

    #[info]
    fn two(&mut self, one: i64, other: i64) {}

    #[call]
    #[cast]
    fn both(&mut self) {}

    #[call]
    fn generic<T>(&mut self, value: T) {}

    #[timeout]
    fn with_argument(&mut self, n: i64) -> Next {
        Next::Wait
    }
}

fn main() {}
