use otp::gen_server;

#[gen_server]
struct Counter;

fn main() {}
