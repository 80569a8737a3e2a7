//! A gen_server that counts, under a supervisor.

use std::time::Duration;

use otp::{Args, Init, Tree, gen_server, one_for_one, supervisor, worker};

otp::application!(root);

/// Counts from where it was told to begin.
#[derive(Debug)]
pub struct Counter {
    value: i64,
}

#[gen_server]
impl Counter {
    fn init(start: i64) -> Init<Self> {
        if start < 0 {
            return Err("a count begins at 0 or above".into());
        }
        Ok(Counter { value: start })
    }

    /// Counts on by `n`.
    #[call]
    fn add(&mut self, n: i64) -> i64 {
        self.value += n;
        self.value
    }

    /// How many of `n` would fit into what was counted.
    #[call]
    fn divided_by(&mut self, n: i64) -> i64 {
        self.value / n
    }

    /// Begins again.
    #[cast]
    fn reset(&mut self) {
        self.value = 0;
    }
}

/// Two counters, of which each is started anew when it panics. The first begins where the command line says.
#[supervisor]
pub fn root(args: Args) -> Tree {
    let start = args.0.first().map_or(0, |start| start.parse().expect("the argument is a number"));
    one_for_one()
        .intensity(3, Duration::from_secs(5))
        .child(worker::<Counter>(start).name("first"))
        .child(worker::<Counter>(start + 100).name("second"))
}
