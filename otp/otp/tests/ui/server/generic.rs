use otp::{gen_event, gen_server, gen_statem, supervisor};

struct Holder<T>(T);

#[gen_server]
impl<T: Send> Holder<T> {
    fn init() -> otp::Init<Self> {
        Err("none".into())
    }
}

#[gen_event]
impl Holder<u8> {
    fn start() -> otp::Init<Self> {
        Err("none".into())
    }
}

#[gen_statem]
impl<'a> Holder<&'a str> {
    fn begin() -> otp::Init<Self> {
        Err("none".into())
    }
}

#[supervisor(module = "Not a name")]
pub fn root() -> otp::Tree {
    otp::one_for_one()
}

fn main() {}
