use otp::{Init, gen_server};

struct Counter;

#[gen_server(on_upgrade = never)]
impl Counter {
    fn init() -> Init<Self> {
        Ok(Counter)
    }
}

fn main() {}
