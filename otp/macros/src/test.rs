//! The attribute `#[otp::test]`: makes a test in a VM of a function.
//!
//! The function lies in a block of its own. Beside it, for `cargo test` only, lies an ignored test of the same name, which says
//! where the function is run.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprLit, ItemFn, Lit, Meta, Result};

use crate::behaviour::plain;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match read(arguments, item.clone()) {
        Ok((function, ignored, panics)) => code(&function, ignored, panics.as_deref()),
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #item #error }
        }
    }
}

fn read(arguments: TokenStream, item: TokenStream) -> Result<(ItemFn, bool, Option<String>)> {
    let mut function = crate::bodies::function(item)
        .map_err(|e| Error::new(e.span(), "#[otp::test] stands before `async fn name() { … }` or `fn name() { … }`"))?;
    if !arguments.is_empty() {
        return Err(Error::new_spanned(
            arguments,
            "#[otp::test] takes nothing; #[ignore] and #[should_panic] stand beside it",
        ));
    }
    if !function.sig.inputs.is_empty() {
        return Err(Error::new_spanned(&function.sig.inputs, "a test takes nothing"));
    }
    let (mut ignored, mut panics) = (false, None);
    function.attrs.retain(|attribute| {
        if attribute.path().is_ident("ignore") {
            ignored = true;
        } else if attribute.path().is_ident("should_panic") {
            panics = Some(expected(&attribute.meta));
        } else {
            return true;
        }
        false
    });
    Ok((function, ignored, panics))
}

/// What `#[should_panic(expected = "…")]` or `#[should_panic = "…"]` says.
fn expected(meta: &Meta) -> String {
    let text = |value: &Expr| match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    };
    let found = match meta {
        Meta::NameValue(pair) => text(&pair.value),
        Meta::List(list) => list.parse_args::<syn::MetaNameValue>().ok().and_then(|pair| text(&pair.value)),
        Meta::Path(_) => None,
    };
    found.unwrap_or_default()
}

fn code(function: &ItemFn, ignored: bool, panics: Option<&str>) -> TokenStream {
    let name = &function.sig.ident;
    let text = plain(name);
    let panics = match panics {
        Some(panics) => quote! { ::core::option::Option::Some(#panics) },
        None => quote! { ::core::option::Option::None },
    };
    let future = if function.sig.asyncness.is_some() {
        quote! { #name() }
    } else {
        quote! { async { #name() } }
    };
    quote! {
        #[::core::prelude::v1::test]
        #[ignore = "in an Erlang VM: cargo otp test"]
        fn #name() {
            ::core::panic!("this test runs in an Erlang VM: cargo otp test");
        }

        // A block of its own, as `cargo test` lists the function above under the same name.
        const _: () = {
            #function

            ::otp::private::inventory::submit! {
                ::otp::testing::Test {
                    // Without the name of the crate, as cargo shows tests.
                    name: ::otp::testing::short(::core::concat!(::core::module_path!(), "::", #text)),
                    ignored: #ignored,
                    panics: #panics,
                    run: || ::otp::testing::run(#future),
                }
            }
        };
    }
}
