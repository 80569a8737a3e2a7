//! `#[gen_server]`.

mod model;
pub(crate) mod write;

use proc_macro2::TokenStream;

pub(crate) use model::{Method, Model, Problems};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match Model::read(arguments, item.clone()) {
        Ok(model) => write::code(&model),
        Err(error) => {
            // The block stays as it is, so that no other error follows from this one.
            let error = error.into_compile_error();
            quote::quote! { #item #error }
        }
    }
}
