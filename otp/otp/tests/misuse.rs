//! What is wrong is said where it is wrong: each file in `ui` is one misuse, and the `.stderr` beside it what is said.
//!
//! `TRYBUILD=overwrite cargo test -p kizami-otp --test misuse` writes them anew. They hold only what the macros themselves say,
//! which does not change with the compiler.

#[test]
fn a_misuse_is_an_error_at_its_place() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/ui/data/*.rs");
    tests.compile_fail("tests/ui/server/*.rs");
}
