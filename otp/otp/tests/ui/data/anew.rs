use otp::Data;

#[derive(Data)]
struct Sent {
    #[otp(anew)]
    made: u32,
}

fn main() {}
