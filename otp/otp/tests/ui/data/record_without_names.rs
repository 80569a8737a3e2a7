#[derive(otp::Data)]
#[otp(record)]
struct Point(i64, i64);

fn main() {}
