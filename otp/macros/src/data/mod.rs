//! `#[derive(Data)]`.

mod attributes;
mod model;
mod write;

use proc_macro2::TokenStream;

pub(crate) fn expand(item: TokenStream) -> TokenStream {
    match model::Model::read(item) {
        Ok(model) => write::code(&model),
        Err(error) => error.into_compile_error(),
    }
}
