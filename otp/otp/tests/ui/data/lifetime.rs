#[derive(otp::Data)]
struct Borrowed<'a> {
    text: &'a str,
}

fn main() {}
