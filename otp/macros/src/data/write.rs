//! The code that a derive becomes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Generics, Ident, parse_quote};

use super::model::{Field, Form, Model, Shape, Variant, speaks_of};

pub(crate) fn code(model: &Model) -> TokenStream {
    let Model { name, erlang, about, form, .. } = model;
    let generics = bounded(model);
    let (parameters, arguments, wheres) = generics.split_for_impl();
    let (encode, decode, definition) = match form {
        Form::Same(field) => {
            let (member, ty) = (&field.member, &field.ty);
            (
                quote! { ::otp::Data::encode(&self.#member, env) },
                quote! { <#ty as ::otp::Data>::decode(term).map(|value| Self { #member: value }) },
                quote! { <#ty as ::otp::Data>::erlang_type() },
            )
        }
        Form::Struct(shape) => {
            let members: Vec<_> = shape.fields().iter().map(|field| &field.member).collect();
            let values: Vec<_> = members.iter().map(|member| quote! { &self.#member }).collect();
            let value = encode_shape(shape, &values);
            let encode = match shape {
                Shape::Map { .. } => value,
                Shape::Tuple(..) => tagged(erlang, &value),
            };
            let expected = pattern(erlang, shape);
            let read = match shape {
                Shape::Map { .. } => {
                    let read = decode_map(shape, &quote! { Self }, &quote! { term });
                    quote! { ::core::result::Result::Ok({ #read }) }
                }
                Shape::Tuple(fields, _) => {
                    let read = decode_tuple(erlang, fields, &quote! { Self }, None);
                    quote! {
                        let elements = term.tuple();
                        #read
                        ::core::result::Result::Err(::otp::Malformed::expected(#expected))
                    }
                }
            };
            let ty = type_of(shape);
            let definition = match shape {
                Shape::Map { .. } => ty,
                Shape::Tuple(..) => quote! { ::otp::data::derived::tuple_type(#erlang, &#ty) },
            };
            (encode, read, definition)
        }
        Form::Enum(variants) => enumeration(variants),
    };
    let absent = if let Form::Same(field) = form {
        let Field { ty, member, .. } = &**field;
        quote! {
            fn absent() -> ::core::option::Option<Self> {
                <#ty as ::otp::Data>::absent().map(|value| Self { #member: value })
            }
        }
    } else {
        TokenStream::new()
    };
    quote! {
        #[automatically_derived]
        impl #parameters ::otp::Data for #name #arguments #wheres {
            #[inline]
            fn encode<'a>(&self, env: ::otp::vm::Env<'a>) -> ::otp::vm::Term<'a> {
                #encode
            }

            #[inline]
            fn decode(term: ::otp::vm::Term<'_>) -> ::core::result::Result<Self, ::otp::Malformed> {
                #decode
            }

            fn erlang_type() -> ::std::string::String {
                ::otp::data::types::named(::core::any::type_name::<Self>(), #erlang, #about, || #definition)
            }

            #absent
        }
    }
}

/// What the code asks of the type's parameters.
fn bounded(model: &Model) -> Generics {
    let mut generics = model.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::otp::Data));
    }
    let fields = match &model.form {
        Form::Same(_) => Vec::new(),
        Form::Struct(shape) => shape.fields().iter().collect(),
        Form::Enum(variants) => variants.iter().flat_map(|variant| variant.shape.fields()).collect(),
    };
    for field in fields {
        if matches!(field.default, Some(None)) && speaks_of(&field.ty, &model.generics) {
            let ty = &field.ty;
            generics.make_where_clause().predicates.push(parse_quote!(#ty: ::core::default::Default));
        }
    }
    generics
}

impl Shape {
    fn fields(&self) -> &[Field] {
        match self {
            Self::Tuple(fields, _) | Self::Map { fields, .. } => fields,
        }
    }
}

fn enumeration(variants: &[Variant]) -> (TokenStream, TokenStream, TokenStream) {
    let encoded = variants.iter().map(|Variant { name, erlang, shape }| {
        let members = shape.fields().iter().map(|field| &field.member);
        let names: Vec<Ident> = (0..shape.fields().len()).map(|number| format_ident!("field_{number}")).collect();
        let values: Vec<_> = names.iter().map(|name| quote! { #name }).collect();
        let value = encode_shape(shape, &values);
        let value = match shape {
            Shape::Map { .. } => quote! { [#value.raw()] },
            Shape::Tuple(..) => value,
        };
        let value = tagged(erlang, &value);
        quote! { Self::#name { #(#members: #names),* } => #value }
    });
    let decoded = variants.iter().map(|Variant { name, erlang, shape }| match shape {
        Shape::Tuple(fields, _) => decode_tuple(erlang, fields, &quote! { Self::#name }, Some(erlang)),
        Shape::Map { .. } => {
            let read = decode_map(shape, &quote! { Self::#name }, &quote! { map });
            quote! {
                if let ::core::option::Option::Some(elements) = ::otp::data::derived::tagged(elements, ::otp::atom!(#erlang), 2) {
                    let read = |map: ::otp::vm::Term<'_>| ::core::result::Result::Ok({ #read });
                    let map = elements.get(1).ok_or_else(|| ::otp::Malformed::expected("a map"))?;
                    return read(map).map_err(|wrong: ::otp::Malformed| wrong.within(#erlang));
                }
            }
        }
    });
    let types = variants.iter().map(|Variant { erlang, shape, .. }| {
        let ty = type_of(shape);
        match shape {
            Shape::Map { .. } => quote! { ::otp::data::derived::tuple_type(#erlang, &[#ty]) },
            Shape::Tuple(..) => quote! { ::otp::data::derived::tuple_type(#erlang, &#ty) },
        }
    });
    let patterns: Vec<_> = variants.iter().map(|variant| pattern(&variant.erlang, &variant.shape)).collect();
    let expected = match patterns.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => patterns.concat(),
    };
    (
        quote! { match self { #(#encoded),* } },
        quote! {
            let elements = term.tuple();
            #(#decoded)*
            let _ = elements;
            ::core::result::Result::Err(::otp::Malformed::expected(#expected))
        },
        quote! { [#(#types),*].join(" | ") },
    )
}

/// The map; or of a tuple the array of what follows its tag.
fn encode_shape(shape: &Shape, values: &[TokenStream]) -> TokenStream {
    let encoded = values.iter().map(|value| quote! { ::otp::Data::encode(#value, env).raw() });
    match shape {
        Shape::Tuple(..) => quote! { [#(#encoded),*] },
        Shape::Map { fields, .. } => {
            let keys = fields.iter().map(|field| &field.erlang);
            quote! { ::otp::data::derived::map(env, [#(::otp::atom!(#keys)),*], [#(#encoded),*]) }
        }
    }
}

/// The atom, or the tuple of it and what `rest`, an array, holds.
fn tagged(tag: &str, rest: &TokenStream) -> TokenStream {
    quote! { ::otp::data::derived::tuple(env, ::otp::atom!(#tag), #rest) }
}

/// Reads an atom or a tuple if it is this one, and returns.
fn decode_tuple(tag: &str, fields: &[Field], constructor: &TokenStream, within: Option<&String>) -> TokenStream {
    if fields.is_empty() {
        return quote! { if term.is(::otp::atom!(#tag)) { return ::core::result::Result::Ok(#constructor {}); } };
    }
    let members = fields.iter().map(|field| &field.member);
    let types = fields.iter().map(|field| &field.ty);
    let indices = 1..=fields.len();
    let arity = fields.len() + 1;
    let within = within.map(|tag| quote! { .map_err(|wrong| wrong.within(#tag)) });
    quote! {
        if let ::core::option::Option::Some(elements) = ::otp::data::derived::tagged(elements, ::otp::atom!(#tag), #arity) {
            return ::core::result::Result::Ok(#constructor { #(#members: elements.element::<#types>(#indices)#within?),* });
        }
    }
}

/// Reads a map, as statements and an expression.
fn decode_map(shape: &Shape, constructor: &TokenStream, map: &TokenStream) -> TokenStream {
    let Shape::Map { fields, open } = shape else { return TokenStream::new() };
    let each = fields.iter().map(|Field { member, erlang, ty, default }| {
        let read = match default {
            None => quote! { field::<#ty>(::otp::atom!(#erlang)) },
            Some(None) => {
                quote! { field_or::<#ty>(::otp::atom!(#erlang), <#ty as ::core::default::Default>::default) }
            }
            Some(Some(value)) => quote! { field_or::<#ty>(::otp::atom!(#erlang), || #value) },
        };
        quote! { #member: fields.#read? }
    });
    let keys = fields.iter().map(|field| &field.erlang);
    let finish = (!open).then(|| quote! { fields.finish(&[#(::otp::atom!(#keys)),*])?; });
    quote! {
        #[allow(unused_mut)]
        let mut fields = ::otp::data::derived::Fields::of(#map)?;
        let value = #constructor { #(#each),* };
        #finish
        value
    }
}

/// The type of the map; or of a tuple the array of those of what follows its tag.
fn type_of(shape: &Shape) -> TokenStream {
    match shape {
        Shape::Map { fields, open } => {
            let each = fields.iter().map(|Field { erlang, ty, default, .. }| {
                let has_default = default.is_some();
                quote! { ::otp::data::derived::entry::<#ty>(#erlang, #has_default) }
            });
            quote! { ::otp::data::derived::map_type(&[#(#each),*], #open) }
        }
        Shape::Tuple(fields, named) => {
            let each = fields.iter().map(|Field { erlang, ty, .. }| {
                if *named {
                    quote! { ::otp::data::derived::element::<#ty>(#erlang) }
                } else {
                    quote! { <#ty as ::otp::Data>::erlang_type() }
                }
            });
            quote! { [#(#each),*] }
        }
    }
}

/// What was expected, for whoever sent something else.
fn pattern(tag: &str, shape: &Shape) -> String {
    match shape {
        Shape::Map { .. } => format!("{{{tag}, #{{…}}}}"),
        Shape::Tuple(fields, _) if fields.is_empty() => tag.to_owned(),
        Shape::Tuple(fields, _) => format!("{{{tag}{}}}", ", _".repeat(fields.len())),
    }
}
