#[derive(otp::Data)]
#[otp(record)]
enum State {
    On,
    Off,
}

fn main() {}
