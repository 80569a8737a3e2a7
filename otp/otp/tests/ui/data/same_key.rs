#[derive(otp::Data)]
struct Options {
    start: i64,
    #[otp(rename = "start")]
    begin: i64,
}

fn main() {}
