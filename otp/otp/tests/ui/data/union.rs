#[derive(otp::Data)]
union Either {
    whole: u32,
    parts: [u8; 4],
}

fn main() {}
