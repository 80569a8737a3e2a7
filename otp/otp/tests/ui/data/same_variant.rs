#[derive(otp::Data)]
enum Command {
    Move(i64),
    #[otp(rename = "move")]
    Go { to: i64 },
    // Not the same: it has another number of elements.
    #[otp(rename = "move")]
    GoThere(i64, i64),
}

fn main() {}
