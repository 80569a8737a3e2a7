//! `#[supervisor]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

use crate::behaviour::{Method, Problems, Scheduler, arguments as listed, described, split};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match read(arguments, item.clone()) {
        Ok((function, start)) => code(&function, &start),
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #item #error }
        }
    }
}

fn read(arguments: TokenStream, item: TokenStream) -> Result<(ItemFn, Method)> {
    let function = crate::bodies::function(item)
        .map_err(|e| Error::new(e.span(), "#[supervisor] stands before `fn name(argument) -> Tree { … }`"))?;
    let mut wrong = Problems::default();
    if !arguments.is_empty() {
        wrong.add(&arguments, "#[supervisor] takes nothing here: the tree says all");
    }
    let start = Method::of(&function.sig, &function.attrs, Scheduler::Normal, false, &mut wrong);
    if let Some(asyncness) = &function.sig.asyncness {
        wrong.add(asyncness, "a tree is only said, so there is nothing to wait for");
    }
    if start.result.is_none() {
        wrong.add(&function.sig.ident, "a supervisor's function returns its `Tree`");
    }
    wrong.finish()?;
    Ok((function, start))
}

fn code(function: &ItemFn, start: &Method) -> TokenStream {
    let (name, visibility) = (&function.sig.ident, &function.vis);
    let (erlang, about) = (name.to_string(), described(&function.attrs));
    let (names, types) = split(start);
    let start = listed(start);
    let docs = format!("The supervisor whose tree the function `{name}` gives.");
    quote! {
        #function

        #[doc = #docs]
        #[allow(non_camel_case_types)]
        #[derive(Debug)]
        #visibility struct #name {}

        impl ::otp::supervisor::Supervisor for #name {
            const NAME: &'static str = #erlang;
            type Argument = (#(#types,)*);

            fn tree(argument: Self::Argument) -> ::otp::Tree {
                let (#(#names,)*) = argument;
                #name(#(#names),*)
            }
        }

        ::otp::private::inventory::submit! {
            ::otp::process::Behaviour {
                name: #erlang,
                at: ::core::concat!(::core::file!(), ":", ::core::line!()),
                init: ::otp::supervisor::init::<#name>,
                restore: ::core::option::Option::None,
                describe: || ::otp::generate::Description {
                    kind: ::otp::generate::Kind::Supervisor,
                    about: #about,
                    rust: #erlang,
                    start: #start,
                    calls: ::std::vec![],
                    casts: ::std::vec![],
                    options: "[]",
                },
            }
        }
    }
}
