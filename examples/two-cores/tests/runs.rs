//! The example with two processors: every block arrives on the other processor.

use std::process::Command;

#[test]
fn every_block_arrives() {
    let output = Command::new(env!("CARGO_BIN_EXE_two-cores")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let sum: u64 = (0..1_000_u64).map(|number| number % 256 * 64).sum();
    let expected = format!("1000 blocks from processor 1 to processor 0, the sum is {sum}\n");
    assert!(said.starts_with(&expected), "{said}");
}
