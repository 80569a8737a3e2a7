//! The derive macros `#[derive(Data)]` and `#[derive(Carry)]`: the form of a type in Erlang, and its form on the way to another build. The
//! two forms are the same, but for what no message may hold.

mod attributes;
mod model;
mod way;
mod write;

use proc_macro2::TokenStream;

pub(crate) use way::Way;

pub(crate) fn expand(item: TokenStream, way: Way) -> TokenStream {
    match model::Model::read(item, way) {
        Ok(model) => write::code(&model, way),
        Err(error) => error.into_compile_error(),
    }
}
