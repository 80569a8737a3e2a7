//! The callers' side of a behaviour that can be called: the methods of its address, and the description of its calls and casts
//! for the generator of the Erlang half.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::{Method, Model, Role, arguments, described, names, plain, split};

/// The methods that `Server<Name>` has, by a trait beside the type, and the functions that start one.
pub(crate) fn api(model: &Model) -> TokenStream {
    let name = &model.name;
    let asked = asked(model, &quote! { ::otp::Server }, &format!("What can be asked of a `Server<{name}>`."));
    let (argument_names, argument_types) = split(&model.init);
    let (docs, module) = (&model.init.docs, model.module());
    quote! {
        #asked

        impl ::otp::Startable for #name {
            #module

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
    let (tag, names) = (plain(&method.name), names(method));
    if names.is_empty() {
        return quote! { ::otp::atom!(#tag).term(otp_env) };
    }
    quote! {
        otp_env.tuple(&[::otp::atom!(#tag).term(otp_env).raw(), #(::otp::Data::encode(&#names, otp_env).raw()),*])
    }
}

/// Reads one request, and does `then` with the names of its arguments.
pub(crate) fn arm(method: &Method, then: &TokenStream) -> TokenStream {
    let (tag, (names, types)) = (plain(&method.name), split(method));
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

/// The description for the generator of the Erlang half.
pub(crate) fn description(model: &Model, kind: &TokenStream) -> TokenStream {
    let (rust, about) = (plain(&model.name), described(&model.block.attrs));
    let start = arguments(&model.init);
    let message = |method: &Method, reply: TokenStream| {
        let (name, about, arguments) = (plain(&method.name), described(&method.docs), arguments(method));
        quote! { ::otp::generate::Message { name: #name, about: #about, arguments: #arguments, reply: #reply } }
    };
    let calls = model.of(Role::Call).map(|method| {
        let reply = reply(model, method);
        message(method, quote! { <#reply as ::otp::Data>::erlang_type() })
    });
    let casts = model.of(Role::Cast).map(|method| message(method, quote! { ::std::string::String::new() }));
    let (options, text) = (model.options.written(model), model.text());
    quote! {
        ::otp::generate::Description {
            kind: ::otp::generate::Kind::#kind,
            about: #about,
            rust: #rust,
            start: #start,
            calls: ::std::vec![#(#calls),*],
            casts: ::std::vec![#(#casts),*],
            options: #options,
            text: #text,
        }
    }
}

/// How a state is shown, and how it goes over to another build.
pub(crate) fn shown(model: &Model) -> TokenStream {
    let older = model.of(Role::Upgrade).map(|method| {
        let (upgrade, (_, types)) = (&method.name, split(method));
        let old = carried(types[0], &quote! { otp_state });
        quote! {
            .or_else(|otp_wrong| match #old {
                ::core::result::Result::Ok(old) => ::core::result::Result::Ok(Self::#upgrade(old)),
                ::core::result::Result::Err(_) => ::core::result::Result::Err(otp_wrong),
            })
        }
    });
    let (show, own) = (show(model), carried(&model.name, &quote! { otp_state }));
    quote! {
        #show

        fn restore(otp_state: ::otp::vm::Term<'_>) -> ::core::result::Result<Self, ::otp::Malformed> {
            #[allow(unused_imports)]
            use ::otp::private::{ByCarry as _, ByItsData as _, ByNothing as _};
            #own #(#older)*
        }
    }
}

/// Reads a value of the type that another build gave, where `otp::private::ByCarry` and its like are in scope.
pub(crate) fn carried(ty: &impl ToTokens, term: &TokenStream) -> TokenStream {
    quote! { (&&&::otp::private::Carried::<#ty>(::core::marker::PhantomData)).carried(#term) }
}

/// How a state is shown, and what it is to another build.
pub(crate) fn show(model: &Model) -> TokenStream {
    let name = &model.name;
    quote! {
        fn show<'a>(&self, env: ::otp::vm::Env<'a>) -> ::otp::vm::Term<'a> {
            #[allow(unused_imports)]
            use ::otp::private::{ByData as _, ByDebug as _, ByName as _};
            (&&&::otp::private::Shown::<#name>(::core::marker::PhantomData)).show(self, env)
        }

        fn carry<'a>(&self, env: ::otp::vm::Env<'a>) -> ::core::option::Option<::otp::vm::Term<'a>> {
            #[allow(unused_imports)]
            use ::otp::private::{ByCarry as _, ByItsData as _, ByNothing as _};
            (&&&::otp::private::Carried::<#name>(::core::marker::PhantomData)).carry(self, env)
        }

        fn goes_over() -> bool {
            #[allow(unused_imports)]
            use ::otp::private::{ByCarry as _, ByItsData as _, ByNothing as _};
            (&&&::otp::private::Carried::<#name>(::core::marker::PhantomData)).goes_over()
        }
    }
}
