//! Callbacks and tests that compute for long: `cargo otp run` and `cargo otp test` say which.

mod common;

use common::{Running, User, edit};

/// Calls that compute for half a second: as they stand, on a dirty scheduler, and with a look at the time.
const CALLBACKS: &str = "
    #[call]
    fn compute(&mut self) {
        compute();
    }

    #[call(dirty_cpu)]
    fn compute_elsewhere(&mut self) {
        compute();
    }

    #[call]
    async fn compute_kindly(&mut self) {
        let mut slice = otp::Slice::new();
        let began = std::time::Instant::now();
        while began.elapsed() < std::time::Duration::from_millis(500) {
            slice.check().await;
        }
    }

    /// A greeting";

const COMPUTE: &str = "
fn compute() {
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_millis(500) {}
}
";

#[test]
fn who_computes_for_long_is_named_with_the_remedy() {
    let user = User::new();
    let path = user.application("held_one", "minimal");
    edit(&path.join("src/lib.rs"), |text| {
        let text = text.replacen("\n    /// A greeting", CALLBACKS, 1) + COMPUTE;
        text.replace(
            "    #[otp::test]\n",
            "    #[otp::test]\n    async fn one_that_computes() {\n        super::compute();\n    }\n\n    #[otp::test]\n",
        )
    });
    // On a machine that does much else, a scheduler may be kept from running for as long as the limit that is set by itself.
    let mut running = Running::start(user.cargo_otp(&path, &["run"]).env("OTP_LONG_SCHEDULE", "400"));
    running.says("the greeter is there");
    let eval = |expression: &str| user.done(&path, &["console", "--eval", expression]);
    eval(
        "held_one_greeter:compute_elsewhere(held_one_greeter), held_one_greeter:compute_kindly(held_one_greeter), held_one_greeter:compute(held_one_greeter)",
    );
    // The first line that says so is of the call that did.
    let told = running.says("held its scheduler for");
    assert!(
        told.contains(", held_one_greeter, of held_one_greeter, held its scheduler for ")
            && told.contains("#[call(dirty_cpu)]"),
        "{told}"
    );
    let length: u32 =
        told.split("scheduler for ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a time");
    assert!(length >= 500, "{told}");
    drop(running);
    let told = user.done(&path, &["test"]);
    assert!(told.contains("warning: the test tests::one_that_computes held its scheduler for"), "{told}");
    assert!(told.contains("test result: ok. 2 passed"), "{told}");
    let other = user.cargo_otp(&path, &["test"]).env("OTP_LONG_SCHEDULE", "0").output().expect("start cargo otp");
    assert!(!common::said(&other).contains("held its scheduler"), "{other:?}");
}
