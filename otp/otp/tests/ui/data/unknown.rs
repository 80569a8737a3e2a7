#[derive(otp::Data)]
struct Options {
    #[otp(skip)]
    start: i64,
}

fn main() {}
