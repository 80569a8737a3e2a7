#[derive(otp::Data)]
#[otp(record)]
struct Point {
    x: i64,
    #[otp(default)]
    y: i64,
}

fn main() {}
