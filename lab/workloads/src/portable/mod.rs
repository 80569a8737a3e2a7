//! Portable work: plain functions that run on any target, `no_std`, without allocation, system calls or clocks.

pub mod datagrams;
pub mod losses;
pub mod memory;
pub mod stamp;

/// The sum of 1 to `n`, added one by one. Opaque to the optimiser, which would otherwise write n(n+1)/2.
pub fn sum(n: u64) -> u64 {
    (1..=n).fold(0, |sum, i| core::hint::black_box(sum + i))
}

/// The Fibonacci number of `n` by naive double recursion, with fib(0) = 0 and fib(1) = 1.
pub fn fib(n: u64) -> u64 {
    if n < 2 { n } else { core::hint::black_box(fib(n - 1)) + core::hint::black_box(fib(n - 2)) }
}

/// Reads all of `words` once, in order: the touch of a working set. The sum is for the optimiser, which must not leave
/// the reads out.
pub fn read_words(words: &[u64]) -> u64 {
    core::hint::black_box(words.iter().fold(0, |sum, word| sum.wrapping_add(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_give_the_studys_results() {
        assert_eq!(sum(4000), 8_002_000);
        assert_eq!(fib(20), 6765);
    }

    #[test]
    fn every_word_of_a_working_set_is_read() {
        assert_eq!(read_words(&[1, 20, 300, u64::MAX]), 320);
        assert_eq!(read_words(&[]), 0);
    }
}
