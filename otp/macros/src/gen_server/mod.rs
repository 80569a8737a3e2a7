//! `#[gen_server]`.

mod model;
pub(crate) mod write;

use proc_macro2::TokenStream;

pub(crate) use model::{Method, Model, Problems};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match Model::read(arguments, item.clone()) {
        Ok(model) => write::code(&model),
        Err(error) => {
            // The block stays, without what only this attribute knows, so that fewer errors follow from this one.
            let (block, error) = (model::without_roles(item), error.into_compile_error());
            quote::quote! { #block #error }
        }
    }
}
