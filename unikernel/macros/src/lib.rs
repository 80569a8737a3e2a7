//! `#[unikernel::main]`.

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprArray, ExprLit, ItemFn, Lit, LitByteStr, LitStr, MetaNameValue, Token};

/// Makes a function the program. It takes nothing, and returns nothing, an `ExitCode`, or a `Result`.
///
/// `blocks = ["data", "log"]` names the block devices that the program has to be given; whoever runs it gives it these and no others.
#[proc_macro_attribute]
pub fn main(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand(attribute, item).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(attribute: TokenStream, item: TokenStream) -> Result<proc_macro2::TokenStream, Error> {
    let function: ItemFn = syn::parse(item)?;
    let signature = &function.sig;
    if let Some(input) = signature.inputs.first() {
        return Err(Error::new_spanned(
            input,
            "the program takes no parameters: unikernel::arguments() has what it was given",
        ));
    }
    if let Some(word) = &signature.asyncness {
        return Err(Error::new_spanned(word, "the program cannot be async: nothing here would run it"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(&signature.generics, "the program cannot have parameters of types"));
    }
    let name = &signature.ident;
    let names = blocks(attribute)?;
    let bytes: Vec<u8> = names.iter().flat_map(|name| name.value().into_bytes().into_iter().chain([0])).collect();
    let (len, bytes) = (bytes.len(), LitByteStr::new(&bytes, name.span()));
    Ok(quote! {
        #function
        const _: () = {
            #[used]
            #[unsafe(link_section = ".note.kizami")]
            static MANIFEST: ::unikernel::rt::Note<#len> = ::unikernel::rt::Note::new(*#bytes);

            #[unsafe(no_mangle)]
            extern "Rust" fn unikernel_main() -> u8 {
                ::unikernel::rt::Termination::code(#name())
            }
            ::unikernel::__entry!();
        };
    })
}

/// The names in `blocks = [...]`.
fn blocks(attribute: TokenStream) -> Result<Vec<LitStr>, Error> {
    let mut names = Vec::<LitStr>::new();
    for MetaNameValue { path, value, .. } in
        Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse(attribute)?
    {
        if !path.is_ident("blocks") {
            return Err(Error::new_spanned(path, "this is not known here: blocks = [\"data\"] is"));
        }
        let Expr::Array(ExprArray { elems, .. }) = value else {
            return Err(Error::new_spanned(value, "the names of the devices, such as blocks = [\"data\"]"));
        };
        for element in elems {
            let Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) = element else {
                return Err(Error::new_spanned(element, "the name of a device, such as \"data\""));
            };
            let text = name.value();
            if !unikernel_abi::manifest::is_name(text.as_bytes()) {
                return Err(Error::new_spanned(name, "a device is called by 1 to 23 letters, digits, - and _"));
            }
            if names.iter().any(|other| other.value() == text) {
                return Err(Error::new_spanned(name, "there is a device of that name already"));
            }
            names.push(name);
        }
    }
    if let Some(one_more) = names.get(unikernel_abi::MOST_DEVICES) {
        return Err(Error::new_spanned(
            one_more,
            format!("a program has at most {} devices", unikernel_abi::MOST_DEVICES),
        ));
    }
    Ok(names)
}
