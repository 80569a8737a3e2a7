use otp::gen_server;

struct Counter;

#[gen_server]
impl Counter {
    #[call]
    fn get(&mut self) -> i64 {
        1
    }
}

fn main() {}
