//! An OTP application: a supervisor and the servers below it.

use otp::{Data, Init, Tree, gen_server, one_for_one, supervisor, worker};

otp::application!(root);

/// Greets, and counts how often it did. As `Data` the state can be looked at, and go over to another build: `cargo otp upgrade`.
#[derive(Data)]
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
    one_for_one().child(worker::<Greeter>(()).name("{{name}}_greeter"))
}

/// Tests that run in an Erlang VM: `cargo otp test`.
#[cfg(test)]
mod tests {
    use super::*;

    #[otp::test]
    async fn a_greeter_counts() {
        let greeter = Greeter::start_link().await.unwrap();
        greeter.greet("Ada".into()).await.unwrap();
        assert_eq!(
            greeter.greet("Joe".into()).await.unwrap(),
            "Hello, Joe! You are number 2."
        );
    }
}
