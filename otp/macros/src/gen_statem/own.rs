//! The events that a state machine sends itself: a generated enum with a variant for each `#[timeout]`, and one with a variant
//! for each `#[event]`. So code that starts a timer names a callback that exists, with the arguments that this callback takes, or
//! it does not compile.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use crate::behaviour::{Method, Model, Role, plain, split};

/// The enum, and what it is called.
pub(super) fn own(model: &Model, role: Role) -> (TokenStream, TokenStream) {
    let (word, what) = match role {
        Role::Timeout => ("Timeout", "The timeouts of a"),
        _ => ("Event", "What is sent by itself to a"),
    };
    if model.of(role).next().is_none() {
        return (TokenStream::new(), quote! { ::otp::statem::Never });
    }
    let name = format_ident!("{}{word}", model.name);
    let about = format!("{what} `{}`: one for each callback that takes one.", model.name);
    let each: Vec<_> = model.of(role).map(Variant::of).collect();
    let declared = each.iter().map(|one| {
        let (variant, docs, types) = (&one.name, &one.method.docs, &one.types);
        let types = (!types.is_empty()).then(|| quote! { (#(#types),*) });
        quote! { #(#docs)* #variant #types }
    });
    let names = each.iter().map(|one| {
        let (variant, tag) = (&one.name, plain(&one.method.name));
        quote! { Self::#variant { .. } => ::otp::atom!(#tag) }
    });
    let encoded = each.iter().map(|one| {
        let (variant, tag) = (&one.name, plain(&one.method.name));
        if one.types.is_empty() {
            return quote! { Self::#variant => ::otp::atom!(#tag).term(otp_env) };
        }
        let values: Vec<_> = (0..one.types.len()).map(|index| format_ident!("otp_{index}")).collect();
        quote! {
            Self::#variant(#(#values),*) => otp_env.tuple(
                &[::otp::atom!(#tag).term(otp_env).raw(), #(::otp::Data::encode(#values, otp_env).raw()),*]
            )
        }
    });
    let code = quote! {
        #[doc = #about]
        #[allow(missing_debug_implementations)]
        pub enum #name {
            #(#declared),*
        }

        impl ::otp::statem::Own for #name {
            fn name(&self) -> &'static ::otp::vm::Atom {
                match self { #(#names),* }
            }

            fn encode<'a>(&self, otp_env: ::otp::vm::Env<'a>) -> ::otp::vm::Term<'a> {
                match self { #(#encoded),* }
            }
        }
    };
    (code, quote! { #name })
}

struct Variant<'a> {
    name: Ident,
    types: Vec<&'a syn::Type>,
    method: &'a Method,
}

impl<'a> Variant<'a> {
    fn of(method: &'a Method) -> Self {
        Self { name: variant(&method.name), types: split(method).1, method }
    }
}

/// `try_again` as a variant is named: `TryAgain`.
fn variant(name: &Ident) -> Ident {
    let text = name.to_string();
    let words = text.trim_start_matches("r#").split('_').filter(|word| !word.is_empty());
    let name_of: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    Ident::new(&name_of, name.span())
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    #[test]
    fn a_variant_is_named_after_its_callback() {
        let named = |name| variant(&Ident::new(name, Span::call_site())).to_string();
        assert_eq!(["relock", "try_again", "_ask_2"].map(named), ["Relock", "TryAgain", "Ask2"]);
    }
}
