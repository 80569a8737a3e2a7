//! An OTP application: a supervisor and the servers below it.

use otp::{Init, Tree, gen_server, one_for_one, supervisor, worker};

otp::application!(root);

/// Greets, and counts how often it did.
pub struct Greeter {
    greeted: u64,
}

#[gen_server]
impl Greeter {
    fn init() -> Init<Self> {
        println!("the greeter is there");
        Ok(Greeter { greeted: 0 })
    }

    /// A greeting for `name`.
    #[call]
    fn greet(&mut self, name: String) -> String {
        self.greeted += 1;
        format!("Hello, {name}! You are number {}.", self.greeted)
    }
}

/// Starts the greeter anew when it panics.
#[supervisor]
pub fn root() -> Tree {
    one_for_one().child(worker::<Greeter>(()).name("greeter"))
}
