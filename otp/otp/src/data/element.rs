//! Decoding an element of a tuple.

use super::{Data, Malformed};
use crate::nif::Tuple;

impl Tuple<'_> {
    /// The element at `index`, of its type.
    ///
    /// # Errors
    /// When it is of another form, or there are not as many.
    #[inline]
    pub fn element<T: Data>(&self, index: usize) -> Result<T, Malformed> {
        let Some(element) = self.get(index) else { return Err(missing()) };
        match T::decode(element) {
            Ok(value) => Ok(value),
            Err(wrong) => Err(wrong_element(wrong, index)),
        }
    }
}

#[cold]
fn missing() -> Malformed {
    Malformed::expected("one element more")
}

#[cold]
fn wrong_element(wrong: Malformed, index: usize) -> Malformed {
    wrong.within(format!("element {}", index + 1))
}
