#[derive(otp::Data)]
#[otp(record, open)]
struct Point {
    x: i64,
}

fn main() {}
