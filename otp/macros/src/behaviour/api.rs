//! What the behaviours that can be asked have in common: their callers' side, and what the generator is told.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::{Method, Model, Role, arguments, described, names, split};

/// The methods that `Server<Name>` has, by a trait beside the type, and the functions that start one.
pub(crate) fn api(model: &Model) -> TokenStream {
    let name = &model.name;
    let asked = asked(model, &quote! { ::otp::Server }, &format!("What can be asked of a `Server<{name}>`."));
    let (argument_names, argument_types) = split(&model.init);
    let (docs, module) = (&model.init.docs, &model.module);
    quote! {
        #asked

        impl ::otp::Startable for #name {
            fn module() -> &'static ::otp::vm::Atom {
                ::otp::atom!(#module)
            }
            type Argument = (#(#argument_types,)*);
        }

        impl #name {
            /// Starts one, linked to the process that awaits this; it may be given a name first.
            #(#docs)*
            pub fn start_link(#(#argument_names: #argument_types),*) -> ::otp::Start<#name> {
                ::otp::Start::new((#(#argument_names,)*))
            }
        }
    }
}

/// The methods that an address of the type has, by a trait beside the type.
pub(crate) fn asked(model: &Model, address: &TokenStream, about: &str) -> TokenStream {
    let name = &model.name;
    let api = format_ident!("{name}Api");
    let casts = model.of(Role::Cast).map(|method| {
        let (signature, request) = (signature(method, None), request(method));
        (signature, quote! { self.cast_with(|otp_env| #request) })
    });
    let calls = model.of(Role::Call).map(|method| {
        let reply = reply(model, method);
        let (signature, request) = (signature(method, Some(&reply)), request(method));
        (signature, quote! { self.call_with(move |otp_env| #request) })
    });
    let (declared, defined): (Vec<_>, Vec<_>) = casts.chain(calls).unzip();
    quote! {
        #[doc = #about]
        pub trait #api {
            #(#declared;)*
        }

        impl #api for #address<#name> {
            #(#[inline] #declared { #defined })*
        }
    }
}

fn signature(method: &Method, reply: Option<&TokenStream>) -> TokenStream {
    let (name, (names, types), docs) = (&method.name, split(method), &method.docs);
    let result = reply.map(|reply| quote! { -> ::otp::Call<#reply> });
    quote! { #(#docs)* fn #name(&self, #(#names: #types),*) #result }
}

/// The type of the reply to a call.
pub(crate) fn reply(model: &Model, method: &Method) -> TokenStream {
    let answer = &model.answer;
    match (&method.caller, &method.result) {
        (Some(reply), _) => quote! { #reply },
        // An error about this type is shown where it stands.
        (None, Some(result)) => quote_spanned! { result.span()=> <#result as #answer>::Value },
        (None, None) => quote! { () },
    }
}

/// The term of a request.
fn request(method: &Method) -> TokenStream {
    let (tag, names) = (method.name.to_string(), names(method));
    if names.is_empty() {
        return quote! { ::otp::atom!(#tag).term(otp_env) };
    }
    quote! {
        otp_env.tuple(&[::otp::atom!(#tag).term(otp_env).raw(), #(::otp::Data::encode(&#names, otp_env).raw()),*])
    }
}

/// Reads one request, and does `then` with the names of its arguments.
pub(crate) fn arm(method: &Method, then: &TokenStream) -> TokenStream {
    let (tag, (names, types)) = (method.name.to_string(), split(method));
    if names.is_empty() {
        return quote! { if otp_request.is(::otp::atom!(#tag)) { #then } };
    }
    let (indices, arity) = (1..=names.len(), names.len() + 1);
    quote! {
        if let ::core::option::Option::Some(otp_elements) = otp_elements
            && otp_elements.len() == #arity
            && otp_elements.get(0).is_some_and(|tag| tag.is(::otp::atom!(#tag)))
        {
            #(let #names = otp_elements.element::<#types>(#indices).map_err(|wrong| wrong.within(#tag))?;)*
            #then
        }
    }
}

/// What the generator of the Erlang half is told.
pub(crate) fn description(model: &Model, kind: &TokenStream) -> TokenStream {
    let (rust, about) = (model.name.to_string(), described(&model.block.attrs));
    let start = arguments(&model.init);
    let message = |method: &Method, reply: TokenStream| {
        let (name, about, arguments) = (method.name.to_string(), described(&method.docs), arguments(method));
        quote! { ::otp::generate::Message { name: #name, about: #about, arguments: #arguments, reply: #reply } }
    };
    let calls = model.of(Role::Call).map(|method| {
        let reply = reply(model, method);
        message(method, quote! { <#reply as ::otp::Data>::erlang_type() })
    });
    let casts = model.of(Role::Cast).map(|method| message(method, quote! { ::std::string::String::new() }));
    let options = model.options.written(model);
    quote! {
        ::otp::generate::Description {
            kind: ::otp::generate::Kind::#kind,
            about: #about,
            rust: #rust,
            start: #start,
            calls: ::std::vec![#(#calls),*],
            casts: ::std::vec![#(#casts),*],
            options: #options,
        }
    }
}

/// How a state is shown and restored.
pub(crate) fn shown(model: &Model) -> TokenStream {
    let name = &model.name;
    let older = model.of(Role::Upgrade).map(|method| {
        let (upgrade, (_, types)) = (&method.name, split(method));
        quote! {
            .or_else(|wrong| match <#(#types)* as ::otp::Data>::decode(state) {
                ::core::result::Result::Ok(old) => ::core::result::Result::Ok(Self::#upgrade(old)),
                ::core::result::Result::Err(_) => ::core::result::Result::Err(wrong),
            })
        }
    });
    let show = show(model);
    quote! {
        #show

        fn restore(state: ::otp::vm::Term<'_>) -> ::core::result::Result<Self, ::otp::Malformed> {
            #[allow(unused_imports)]
            use ::otp::private::{ByData as _, ByDebug as _, ByName as _};
            (&&&::otp::private::Shown::<#name>(::core::marker::PhantomData)).restore(state) #(#older)*
        }
    }
}

/// How a state is shown.
pub(crate) fn show(model: &Model) -> TokenStream {
    let name = &model.name;
    quote! {
        fn show<'a>(&self, env: ::otp::vm::Env<'a>) -> ::otp::vm::Term<'a> {
            #[allow(unused_imports)]
            use ::otp::private::{ByData as _, ByDebug as _, ByName as _};
            (&&&::otp::private::Shown::<#name>(::core::marker::PhantomData)).show(self, env)
        }
    }
}
