#[derive(otp::Data)]
struct Options {
    #[otp(default, rename = "a", default = 5)]
    start: i64,
}

fn main() {}
