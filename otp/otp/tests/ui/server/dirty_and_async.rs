use otp::{Init, gen_server};

struct Counter;

#[gen_server]
impl Counter {
    fn init() -> Init<Self> {
        Ok(Counter)
    }

    #[call(dirty_cpu)]
    async fn both(&mut self) -> i64 {
        1
    }

    #[call(quickly)]
    fn quick(&mut self) -> i64 {
        1
    }
}

fn main() {}
