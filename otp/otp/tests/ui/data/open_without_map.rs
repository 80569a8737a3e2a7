#[derive(otp::Data)]
#[otp(open)]
enum Command {
    Stop,
    Move(i64),
}

fn main() {}
