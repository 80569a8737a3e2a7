//! Names and texts of callbacks in the generated code.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Ident, Type};

use super::Method;

/// The function that gives a behaviour's module, which is called as `module = "…"` says, or after `name` and the application.
pub(crate) fn module(given: Option<&str>, name: &str) -> TokenStream {
    let module = match given {
        Some(given) => quote! { given(#given) },
        None => quote! { own(#name) },
    };
    quote! {
        fn module() -> &'static ::otp::vm::Atom {
            static MODULE: ::otp::process::Module = ::otp::process::Module::#module;
            MODULE.atom()
        }
    }
}

/// A name as Erlang has it: `type` of `r#type`.
pub(crate) fn plain(name: &Ident) -> String {
    name.unraw().to_string()
}

/// The requests that a process takes, for the error to a caller that sent something else.
pub(crate) fn there_are<'a>(what: &str, methods: impl Iterator<Item = &'a Method>) -> String {
    let each = methods.map(|method| match method.arguments.len() {
        0 => plain(&method.name),
        several => format!("{{{}{}}}", plain(&method.name), ", _".repeat(several)),
    });
    let each: Vec<_> = each.collect();
    if each.is_empty() { format!("no {what} at all") } else { format!("a {what}: {}", each.join(" or ")) }
}

pub(crate) fn arguments(method: &Method) -> TokenStream {
    let each = method.arguments.iter().map(|(name, ty)| {
        let name = plain(name);
        quote! { ::otp::generate::Argument { name: #name, ty: <#ty as ::otp::Data>::erlang_type() } }
    });
    quote! { ::std::vec![#(#each),*] }
}

/// The documentation, line by line.
pub(crate) fn described(attributes: &[syn::Attribute]) -> String {
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

pub(crate) fn split(method: &Method) -> (Vec<&Ident>, Vec<&Type>) {
    method.arguments.iter().map(|(name, ty)| (name, ty)).unzip()
}

pub(crate) fn names(method: &Method) -> Vec<&Ident> {
    method.arguments.iter().map(|(name, _)| name).collect()
}

/// `HTTPServer2Go` as Erlang names an atom: `http_server2_go`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let word_begins = before.is_some_and(|before| {
            let in_capitals = before.is_uppercase() && !letters.get(at + 1).is_some_and(|next| next.is_lowercase());
            *before != '_' && !in_capitals
        });
        if letter.is_uppercase() && word_begins {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn names_are_as_erlang_has_them() {
        let names = ["Idle", "DeviceGateway", "HTTPServer", "X", "GPIOPin2Go", "already_snake", "A_B", "ID"];
        let snakes = ["idle", "device_gateway", "http_server", "x", "gpio_pin2_go", "already_snake", "a_b", "id"];
        assert_eq!(names.map(snake), snakes);
    }
}
