//! Tests that run in an Erlang VM: `#[otp::test]`, and the functions by which `cargo otp test` runs them.
//!
//! This layer may use all but `library`, which finds the tests here.
//!
//! A test is a function without arguments, async or not, that returns nothing or a `Result`; it runs in a process of its own,
//! so it may do whatever a callback may. `#[ignore]` and `#[should_panic]` stand beside the attribute.
//!
//! ```
//! #[otp::test]
//! async fn time_goes_by() {
//!     let began = std::time::Instant::now();
//!     otp::time::sleep(std::time::Duration::from_millis(10)).await;
//!     assert!(began.elapsed().as_millis() >= 10);
//! }
//! ```
//!
//! `cargo test`, which has no VM, shows it as ignored.

mod node;

pub use node::Node;

use crate::data::{Any, Data};
use crate::nif::{Env, Term};
use crate::waiting::future::Boxed;
use crate::waiting::task::Worker;

/// A test. The attribute `#[otp::test]` writes this.
#[derive(Debug)]
pub struct Test {
    /// With its modules, but without its crate.
    pub name: &'static str,
    pub ignored: bool,
    /// Whether it passes by a panic, and what that must say.
    pub panics: Option<&'static str>,
    pub run: fn() -> Boxed<()>,
}

inventory::collect!(Test);

/// What a test may come to: nothing, or a `Result` whose error fails it.
pub trait Outcome {
    /// # Panics
    /// When the test has failed.
    fn check(self);
}

impl Outcome for () {
    fn check(self) {}
}

impl<E: std::fmt::Debug> Outcome for Result<(), E> {
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned {error:?}");
        }
    }
}

/// All tests of this library, in the order of their names; their number is the place in it.
fn all() -> Vec<&'static Test> {
    let mut all: Vec<_> = inventory::iter::<Test>().collect();
    all.sort_by_key(|test| test.name);
    all
}

/// `[{Name, Ignored, Panics}]`: what there is to run.
pub(crate) fn list<'a>(env: Env<'a>) -> Term<'a> {
    let tests: Vec<(String, bool, Option<String>)> =
        all().iter().map(|test| (test.name.to_owned(), test.ignored, test.panics.map(str::to_owned))).collect();
    tests.encode(env)
}

/// The slot of a process that runs the test of this number.
pub(crate) fn begin<'a>(env: Env<'a>, number: usize) -> Option<Term<'a>> {
    let test = *all().get(number)?;
    Some(Worker::slot(env, (test.run)()))
}

/// The future of a test, of whatever outcome.
#[doc(hidden)]
pub fn run<T: Outcome>(test: impl Future<Output = T> + Send + 'static) -> Boxed<()> {
    Box::pin(async move { test.await.check() })
}

/// What Erlang makes of an expression in its own notation: for tests that look at a process from there.
///
/// # Errors
/// When it raises something.
pub async fn evaluate(expression: &str) -> Result<Any, crate::waiting::erlang::Raised> {
    let text: Vec<u32> = expression.chars().map(u32::from).collect();
    crate::waiting::erlang::apply(&crate::nif::module::part("test"), "evaluate", (text,)).await
}

/// A path without its crate.
#[doc(hidden)]
pub const fn short(path: &'static str) -> &'static str {
    let bytes = path.as_bytes();
    let mut at = 0;
    while at + 2 < bytes.len() {
        if bytes[at] == b':' && bytes[at + 1] == b':' {
            return path.split_at(at + 2).1;
        }
        at += 1;
    }
    path
}
