//! A thread of the application through two upgrades: it stays in the build that started it, and what it sends arrives in the builds
//! after, in its order.

mod common;

use common::{User, edit};

const STATE: &str = "#[derive(Data)]
pub struct Greeter {
    greeted: u64,
}";

/// Counts what comes by two ways, and what is not the next.
const COUNTS: &str = "#[derive(Data)]
pub struct Greeter {
    greeted: u64,
    near: u64,
    far: u64,
    wrong: u64,
}";

const CALLBACKS: &str = "
    /// Has a thread tell a number every millisecond, straight and through the process that sends for threads.
    #[cast]
    fn speak(&mut self) {
        std::thread::spawn(|| {
            for n in 0.. {
                Server::<Greeter>::named(\"threaded_one_greeter\").near(n);
                Server::<Greeter>::global(\"the greeter\").far(n);
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
    }

    #[cast]
    fn near(&mut self, n: u64) {
        self.wrong += u64::from(self.near != n);
        self.near = n + 1;
    }

    #[cast]
    fn far(&mut self, n: u64) {
        self.wrong += u64::from(self.far != n);
        self.far = n + 1;
    }

    #[call]
    fn counts(&mut self) -> (u64, u64, u64, u32) {
        (self.near, self.far, self.wrong, 1)
    }

    /// A greeting";

#[test]
fn a_thread_of_a_build_that_was_replaced_is_still_heard() {
    let user = User::new();
    let path = user.application("threaded_one", "minimal");
    let source = path.join("src/lib.rs");
    edit(&source, |text| {
        let text = text.replace(STATE, COUNTS).replace("greeted: 0 }", "greeted: 0, near: 0, far: 0, wrong: 0 }");
        text.replacen("\n    /// A greeting", CALLBACKS, 1)
            .replace("use otp::{Data, Init,", "use otp::{Data, Init, Server,")
    });
    let _running = user.run(&path, &[]);
    let eval = |expression: &str| user.done(&path, &["console", "--eval", expression]).trim().to_owned();
    eval(
        "global:register_name(list_to_atom(\"the greeter\"), whereis(threaded_one_greeter)), threaded_one_greeter:speak(threaded_one_greeter)",
    );
    // Until a hundred more have come by both ways.
    let hundred_more = "Counts = fun() -> threaded_one_greeter:counts(threaded_one_greeter) end, {Near, Far, _, _} = Counts(),
        (fun Wait() -> case Counts() of {N, F, W, V} when N >= Near + 100, F >= Far + 100 -> {W, V}; _ -> timer:sleep(20), Wait() end
         end)()";
    assert_eq!(eval(hundred_more), "{0,1}");
    for version in 2..=3 {
        edit(&source, |text| {
            text.replace(&format!("self.wrong, {})", version - 1), &format!("self.wrong, {version})"))
        });
        let told = user.done(&path, &["upgrade"]);
        assert!(told.contains("Unloaded threaded_one_"), "{told}");
        assert_eq!(eval(hundred_more), format!("{{0,{version}}}"));
    }
}
