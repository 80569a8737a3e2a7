#[derive(otp::Data)]
enum Never {}

fn main() {}
