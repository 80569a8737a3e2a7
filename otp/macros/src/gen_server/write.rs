//! The code that a gen_server becomes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::model::{Method, Model};

pub(crate) fn code(model: &Model) -> TokenStream {
    let Model { block, name, init, calls, casts, infos } = model;
    let erlang = snake(&name.to_string());
    let (argument_names, argument_types) = split(init);
    let calls_read = calls.iter().map(|method| {
        arm(method, |call| {
            quote! { return ::core::result::Result::Ok(::otp::Data::encode(&#call, env)); }
        })
    });
    let casts_read =
        casts.iter().map(|method| arm(method, |call| quote! { #call; return ::core::result::Result::Ok(()); }));
    let (calls_there_are, casts_there_are) = (there_are("call", calls), there_are("cast", casts));
    let infos_read = infos.iter().map(|method| {
        let (method_name, (_, types)) = (&method.name, split(method));
        quote! {
            if let ::core::result::Result::Ok(message) = <#(#types)* as ::otp::Data>::decode(message) {
                self.#method_name(message);
                return true;
            }
        }
    });
    let api = api(name, casts);
    let description = description(model);
    quote! {
        #block

        impl ::otp::GenServer for #name {
            const NAME: &'static str = #erlang;
            type Argument = (#(#argument_types,)*);

            fn start(argument: Self::Argument) -> ::otp::Init<Self> {
                let (#(#argument_names,)*) = argument;
                Self::init(#(#argument_names),*)
            }

            #[inline]
            fn call<'a>(&mut self, env: ::otp::vm::Env<'a>, request: ::otp::vm::Term<'a>)
                -> ::core::result::Result<::otp::vm::Term<'a>, ::otp::Malformed>
            {
                let elements = request.tuple();
                #(#calls_read)*
                let _ = (env, elements);
                ::core::result::Result::Err(::otp::Malformed::expected(#calls_there_are))
            }

            #[inline]
            fn cast(&mut self, request: ::otp::vm::Term<'_>) -> ::core::result::Result<(), ::otp::Malformed> {
                let (env, elements) = (request.env(), request.tuple());
                #(#casts_read)*
                let _ = (env, elements);
                ::core::result::Result::Err(::otp::Malformed::expected(#casts_there_are))
            }

            #[inline]
            fn info(&mut self, message: ::otp::vm::Term<'_>) -> bool {
                #(#infos_read)*
                let _ = message;
                false
            }
        }

        ::otp::private::inventory::submit! {
            ::otp::process::Behaviour {
                name: #erlang,
                init: ::otp::server::start::<#name>,
                describe: || #description,
            }
        }

        #api
    }
}

/// What a server takes, for whoever asked for something else.
fn there_are(what: &str, methods: &[Method]) -> String {
    let each = methods.iter().map(|method| match method.arguments.len() {
        0 => method.name.to_string(),
        several => format!("{{{}{}}}", method.name, ", _".repeat(several)),
    });
    let each: Vec<_> = each.collect();
    if each.is_empty() { format!("no {what} at all") } else { format!("a {what}: {}", each.join(" or ")) }
}

/// Reads one request, and does `then` with the call of its method.
fn arm(method: &Method, then: impl Fn(TokenStream) -> TokenStream) -> TokenStream {
    let (method_name, (names, types)) = (&method.name, split(method));
    let tag = method_name.to_string();
    let then = then(quote! { self.#method_name(#(#names),*) });
    if names.is_empty() {
        return quote! { if request.is(::otp::atom!(#tag)) { #then } };
    }
    let indices = 1..=names.len();
    let arity = names.len() + 1;
    quote! {
        if let ::core::option::Option::Some(elements) = elements
            && elements.len() == #arity
            && elements.get(0).is_some_and(|tag| tag.is(::otp::atom!(#tag)))
        {
            #(let #names = elements.element::<#types>(#indices).map_err(|wrong| wrong.within(#tag))?;)*
            #then
        }
    }
}

/// The methods that `Server<Name>` has, by a trait beside the type.
fn api(name: &Ident, casts: &[Method]) -> TokenStream {
    let api = format_ident!("{name}Api");
    let about = format!("What can be asked of a `Server<{name}>`.");
    let signatures: Vec<_> = casts
        .iter()
        .map(|method| {
            let (method_name, (names, types), docs) = (&method.name, split(method), &method.docs);
            (quote! { #(#docs)* fn #method_name(&self, #(#names: #types),*) }, method)
        })
        .collect();
    let declared = signatures.iter().map(|(signature, _)| signature);
    let defined = signatures.iter().map(|(signature, method)| {
        let tag = method.name.to_string();
        let (names, _) = split(method);
        let request = if names.is_empty() {
            quote! { ::otp::atom!(#tag).term(env) }
        } else {
            quote! { env.tuple(&[::otp::atom!(#tag).term(env).raw(), #(::otp::Data::encode(&#names, env).raw()),*]) }
        };
        quote! { #[inline] #signature { self.cast_with(|env| #request) } }
    });
    quote! {
        #[doc = #about]
        pub trait #api {
            #(#declared;)*
        }

        impl #api for ::otp::Server<#name> {
            #(#defined)*
        }
    }
}

/// What the generator of the Erlang half is told.
fn description(model: &Model) -> TokenStream {
    let Model { block, name, init, calls, casts, .. } = model;
    let (rust, about) = (name.to_string(), text(&block.attrs));
    let start = arguments(init);
    let messages = |methods: &[Method]| {
        let each = methods.iter().map(|method| {
            let (name, about, arguments) = (method.name.to_string(), text(&method.docs), arguments(method));
            let reply = match &method.result {
                _ if casts.iter().any(|cast| cast.name == method.name) => quote! { ::std::string::String::new() },
                Some(result) => quote! { <#result as ::otp::Data>::erlang_type() },
                None => quote! { <() as ::otp::Data>::erlang_type() },
            };
            quote! { ::otp::generate::Message { name: #name, about: #about, arguments: #arguments, reply: #reply } }
        });
        quote! { ::std::vec![#(#each),*] }
    };
    let (calls, casts) = (messages(calls), messages(casts));
    quote! {
        ::otp::generate::Description { kind: ::otp::generate::Kind::Server, about: #about, rust: #rust, start: #start, calls: #calls, casts: #casts }
    }
}

pub(crate) fn arguments(method: &Method) -> TokenStream {
    let each = method.arguments.iter().map(|(name, ty)| {
        let name = name.to_string();
        quote! { ::otp::generate::Argument { name: #name, ty: <#ty as ::otp::Data>::erlang_type() } }
    });
    quote! { ::std::vec![#(#each),*] }
}

/// What documentation says, a line each.
pub(crate) fn text(attributes: &[syn::Attribute]) -> String {
    let lines =
        attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| match &attribute
            .meta
        {
            syn::Meta::NameValue(syn::MetaNameValue {
                value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }),
                ..
            }) => Some(line.value()),
            _ => None,
        });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn split(method: &Method) -> (Vec<&Ident>, Vec<&syn::Type>) {
    method.arguments.iter().map(|(name, ty)| (name, ty)).unzip()
}

/// `DeviceGateway` as Erlang names a module: `device_gateway`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
