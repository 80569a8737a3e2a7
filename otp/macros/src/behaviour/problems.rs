//! All that is wrong, so that it can be said at once.

use syn::{Error, Result};

#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    pub(crate) fn add(&mut self, at: &impl quote::ToTokens, what: &str) {
        self.also(Error::new_spanned(at, what));
    }

    pub(crate) fn also(&mut self, error: Error) {
        match &mut self.0 {
            Some(others) => others.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
