//! Blocks and functions whose bodies need not be valid Rust (yet).
//!
//! An attribute of this crate reads the argument types and return types of functions, and never their bodies. A body that cannot
//! be parsed is passed on as it stands: the compiler reports its error once, and better. If the attribute gave up the whole block
//! instead, dozens of errors would follow that one, because all code that the attribute writes would be missing.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Block, Expr, ImplItem, ItemFn, ItemImpl, Result, Stmt};

/// A block of methods.
pub(crate) fn block(item: TokenStream) -> Result<ItemImpl> {
    syn::parse2(item.clone()).or_else(|error| {
        let mut tokens: Vec<_> = item.into_iter().collect();
        let mut bodies = Vec::new();
        // The methods are in the last group.
        if let Some(TokenTree::Group(methods)) = tokens.last_mut() {
            *methods = with(methods, without_bodies(methods.stream(), &mut bodies));
        }
        let Ok(mut block) = syn::parse2::<ItemImpl>(tokens.into_iter().collect()) else { return Err(error) };
        let methods = block.items.iter_mut().filter_map(|item| match item {
            ImplItem::Fn(function) => Some(&mut function.block),
            _ => None,
        });
        put_back(methods.collect(), bodies, error)?;
        Ok(block)
    })
}

/// A function alone.
pub(crate) fn function(item: TokenStream) -> Result<ItemFn> {
    syn::parse2(item.clone()).or_else(|error| {
        let mut bodies = Vec::new();
        let Ok(mut function) = syn::parse2::<ItemFn>(without_bodies(item, &mut bodies)) else { return Err(error) };
        put_back(vec![&mut *function.block], bodies, error)?;
        Ok(function)
    })
}

/// Takes the bodies of the functions out: the groups in braces that end what begins with `fn`.
fn without_bodies(tokens: TokenStream, bodies: &mut Vec<TokenStream>) -> TokenStream {
    let mut in_function = false;
    let change = |token: TokenTree| match token {
        TokenTree::Group(body) if in_function && body.delimiter() == Delimiter::Brace => {
            in_function = false;
            bodies.push(body.stream());
            with(&body, TokenStream::new()).into()
        }
        other => {
            match &other {
                TokenTree::Ident(word) if word == "fn" => in_function = true,
                TokenTree::Punct(punct) if punct.as_char() == ';' => in_function = false,
                _ => {}
            }
            other
        }
    };
    tokens.into_iter().map(change).collect()
}

/// The same group around other tokens.
fn with(group: &Group, tokens: TokenStream) -> Group {
    let mut other = Group::new(group.delimiter(), tokens);
    other.set_span(group.span());
    other
}

fn put_back(functions: Vec<&mut Block>, bodies: Vec<TokenStream>, error: syn::Error) -> Result<()> {
    if functions.len() != bodies.len() {
        return Err(error);
    }
    for (function, body) in functions.into_iter().zip(bodies) {
        function.stmts = vec![Stmt::Expr(Expr::Verbatim(body), None)];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};

    use super::*;

    #[test]
    fn a_body_that_is_no_rust_stays_as_it_stands() {
        let item = quote! {
            impl Counter {
                const MOST: u64 = { 5 };
                /// Counts.
                #[call]
                async fn count(&mut self, by: [u8; { 1 }]) -> u64 { self.count += ; self.count }
                fn whole() {}
            }
        };
        let block = block(item.clone()).expect("a block");
        assert_eq!(block.to_token_stream().to_string(), item.to_string());
        let item = quote! { pub fn root() -> Tree { one_for_one().child(. ) } };
        assert_eq!(function(item.clone()).expect("a function").to_token_stream().to_string(), item.to_string());
    }

    #[test]
    fn what_is_wrong_elsewhere_is_said() {
        for item in [quote! { impl Counter { fn count(&mut self -> ) { } } }, quote! { struct Counter { } }] {
            assert!(block(item).is_err());
        }
        assert!(function(quote! { struct Counter; }).is_err());
    }
}
