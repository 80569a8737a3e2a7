#[derive(otp::Data)]
#[otp(record)]
enum Command {
    #[otp(default)]
    Stop,
    Move {
        #[otp(renamed = "to")]
        by: i64,
    },
}

fn main() {}
