//! Links, exit signals, and processes that trap exits.

use std::time::Duration;

use otp::{Exit, Init, Pid, Reason, Server, gen_server, time};

/// Is told of the end of those that it is linked to.
pub struct Guardian {
    seen: Vec<String>,
}

#[gen_server]
impl Guardian {
    fn init() -> Init<Self> {
        Ok(Guardian { seen: Vec::new() })
    }

    /// Starts one that ends so.
    #[call]
    async fn child(&mut self, how: String) -> bool {
        let child = Mortal::start_link().await.expect("it starts");
        child.end(how);
        true
    }

    #[call]
    fn seen(&mut self) -> Vec<String> {
        self.seen.clone()
    }

    #[info]
    fn ended(&mut self, exit: Exit) {
        self.seen.push(exit.reason.to_string());
    }
}

/// Ends as it is told.
pub struct Mortal;

#[gen_server]
impl Mortal {
    fn init() -> Init<Self> {
        Ok(Mortal)
    }

    #[cast]
    fn end(&mut self, how: String) -> otp::Next {
        match how.as_str() {
            "panic" => panic!("in the midst of life"),
            "normal" => otp::Next::stop(),
            "kill" => {
                otp::kill(&Pid::own());
                otp::Next::Wait
            }
            other => otp::Next::Stop(other.into()),
        }
    }

    #[call]
    fn link_to(&mut self, other: Pid) -> bool {
        otp::link(&other);
        true
    }

    #[call]
    fn pid(&mut self) -> Pid {
        Pid::own()
    }
}

#[otp::test]
async fn who_has_an_info_for_exits_is_told_of_them_and_goes_on() {
    let guardian = Guardian::start_link().await.expect("it starts");
    for how in ["normal", "panic", "kill", "my own"] {
        guardian.child(how.into()).await.expect("an answer");
    }
    let mut seen = Vec::new();
    while seen.len() < 4 {
        time::sleep(Duration::from_millis(5)).await;
        seen = guardian.seen().await.expect("an answer");
    }
    assert!(seen.iter().any(|one| one.contains("in the midst of life") && one.contains("links.rs")), "{seen:?}");
    assert!(seen.contains(&Reason::Normal.to_string()) && seen.contains(&Reason::Killed.to_string()), "{seen:?}");
}

#[otp::test]
async fn who_has_none_ends_with_those_it_is_linked_to() {
    let ended = otp::Task::spawn_unlinked(async {
        let (one, other) =
            (Mortal::start_link().await.expect("it starts"), Mortal::start_link().await.expect("it starts"));
        one.link_to(other.pid().await.expect("an answer")).await.expect("an answer");
        other.end("panic".into());
        time::sleep(Duration::from_secs(5)).await;
    });
    assert!(matches!(ended.await, Err(Reason::Panic { .. })), "the end went through the links");
}

#[otp::test]
async fn a_name_is_given_and_found() {
    let one = Mortal::start_link().named("mortal_one").await.expect("it starts");
    let pid = one.pid().await.expect("an answer");
    assert_eq!(Pid::registered("mortal_one"), Some(pid.clone()));
    assert_eq!(Pid::registered("mortal_none"), None);
    assert_eq!(Server::<Mortal>::of(pid.clone()).pid().await, Ok(pid));
}
