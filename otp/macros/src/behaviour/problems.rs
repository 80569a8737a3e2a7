//! The errors of a block, gathered so that all of them are reported at once.

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

/// The texts of the errors in generated code.
#[cfg(test)]
pub(crate) fn said(code: &proc_macro2::TokenStream) -> Vec<String> {
    let text = code.to_string();
    let each = text.split("compile_error ! {").skip(1).map(|rest| {
        let rest = rest.trim_start().trim_start_matches('"');
        rest.split("\" }").next().unwrap_or_default().trim_end().trim_end_matches('"').to_owned()
    });
    each.collect()
}
