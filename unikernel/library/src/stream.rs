//! The two streams of text.

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Results.
    Out,
    /// Everything else.
    Error,
}
