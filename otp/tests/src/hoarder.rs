//! A server that keeps whatever it is given, and ends in every way there is with it, for what is logged of large things.

use otp::{Any, Data, Init, Next, NoStart, Reason, Tree, gen_server, one_for_one, pool, supervisor, worker};

/// Its state is what it was given.
#[derive(Debug, Data)]
pub struct Hoarder {
    kept: Any,
}

#[gen_server(module = "hoarder")]
impl Hoarder {
    /// Does not start where it is to refuse, and says so at length.
    fn init(kept: Any, refuses: bool) -> Init<Self> {
        if refuses { Err(NoStart::Because("no ".repeat(1_000_000))) } else { Ok(Self { kept }) }
    }

    #[call]
    fn kept(&mut self) -> Any {
        self.kept.clone()
    }

    /// Panics with a text of so many KiB.
    #[call]
    fn rare_panic(&mut self, length: u16) {
        panic!("{}", "x".repeat(usize::from(length) * 1024));
    }

    /// Ends with this as its reason.
    #[call]
    fn rare_end(&mut self, reason: Any) -> otp::Reply<()> {
        otp::Reply::and_stop((), Reason::Other(reason))
    }

    /// The same with nobody waiting.
    #[cast]
    fn rare_stop(&mut self, reason: Any) -> Next {
        Next::Stop(Reason::Other(reason))
    }
}

/// One and a pool of them under a supervisor of OTP's.
#[supervisor(module = "hoard")]
pub fn hoard(kept: Any) -> Tree {
    one_for_one()
        .child(worker::<Hoarder>((kept, false)).name("hoarder").temporary())
        .child(pool::<Hoarder>().temporary())
}
