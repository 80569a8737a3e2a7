#[derive(otp::Data)]
struct Options {
    #[otp(rename = first)]
    start: i64,
}

fn main() {}
