#[derive(otp::Data)]
enum Command {
    Move(i64, #[otp(default)] i64),
}

fn main() {}
