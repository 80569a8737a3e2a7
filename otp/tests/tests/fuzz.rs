//! Random terms for everything that the library lets in; `erlang/fuzz.erl` says what must hold.
//!
//! `KIZAMI_FUZZ_SECONDS` sets the duration, 5 seconds if it is not set; `KIZAMI_FUZZ_SEED` repeats the terms of another run.

use std::process::Command;
use std::time::Duration;

use in_a_vm::{LONG, compiled, run_within};
// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use otp_tests as _;
use std::time::{SystemTime, UNIX_EPOCH};

#[test]
fn no_term_is_more_than_an_error_value() {
    let seconds = std::env::var("KIZAMI_FUZZ_SECONDS").unwrap_or_else(|_| "5".into());
    let seed = std::env::var("KIZAMI_FUZZ_SEED").unwrap_or_else(|_| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that is right");
        since.as_nanos().to_string()
    });
    let modules =
        [("fuzz", include_str!("../erlang/fuzz.erl")), ("fuzz_terms", include_str!("../erlang/fuzz_terms.erl"))];
    let folder = compiled("otp_tests", &modules);
    let arguments = ["-noshell", "-pa", ".", "-run", "fuzz", "main", &seconds, &seed];
    println!("seed {seed}");
    let time = Duration::from_secs(seconds.parse().expect("a number of seconds")) + LONG;
    let said = run_within(folder.path(), Command::new("erl").args(arguments), time);
    println!("{said}");
    let (_, after) = said.split_once("passed\n").expect("the last word of fuzz.erl");
    assert_eq!(after, "", "something was printed to standard error, such as the panic of a thread");
}
