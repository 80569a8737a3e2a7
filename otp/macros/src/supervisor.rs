//! The attribute `#[supervisor]`: makes a supervisor of a function that returns a `Tree`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Error, ItemFn, Result};

use crate::behaviour::{
    Method, Problems, Scheduler, arguments as listed, described, module, module_given, plain, split,
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match read(arguments, item.clone()) {
        Ok((function, start, given)) => code(&function, &start, given.as_deref()),
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #item #error }
        }
    }
}

/// The function, what starts it, and the name of its module where that is given.
fn read(arguments: TokenStream, item: TokenStream) -> Result<(ItemFn, Method, Option<String>)> {
    let function = crate::bodies::function(item)
        .map_err(|e| Error::new(e.span(), "#[supervisor] stands before `fn name(argument) -> Tree { … }`"))?;
    let mut wrong = Problems::default();
    let mut given = None;
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("module") {
            return Err(meta.error("#[supervisor] takes module = \"name_in_erlang\"; the tree says all the rest"));
        }
        given = Some(module_given(&meta)?);
        Ok(())
    });
    if let Err(error) = parser.parse2(arguments) {
        wrong.also(error);
    }
    let start = Method::of(&function.sig, &function.attrs, Scheduler::Normal, false, &mut wrong);
    if let Some(asyncness) = &function.sig.asyncness {
        wrong.add(asyncness, "a tree is only said, so there is nothing to wait for");
    }
    if start.result.is_none() {
        wrong.add(&function.sig.ident, "a supervisor's function returns its `Tree`");
    }
    wrong.finish()?;
    Ok((function, start, given))
}

fn code(function: &ItemFn, start: &Method, given: Option<&str>) -> TokenStream {
    let (name, visibility) = (&function.sig.ident, &function.vis);
    let (rust, about) = (plain(name), described(&function.attrs));
    let module = module(given, &rust);
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
            #module

            type Argument = (#(#types,)*);

            fn tree(argument: Self::Argument) -> ::otp::Tree {
                let (#(#names,)*) = argument;
                #name(#(#names),*)
            }
        }

        ::otp::private::inventory::submit! {
            ::otp::process::Behaviour {
                module: <#name as ::otp::supervisor::Supervisor>::module,
                at: ::core::concat!(::core::file!(), ":", ::core::line!()),
                init: ::otp::supervisor::init::<#name>,
                restore: ::core::option::Option::None,
                describe: || ::otp::generate::Description {
                    kind: ::otp::generate::Kind::Supervisor,
                    about: #about,
                    rust: #rust,
                    start: #start,
                    calls: ::std::vec![],
                    casts: ::std::vec![],
                    options: "[]",
                    text: 0,
                },
            }
        }
    }
}
