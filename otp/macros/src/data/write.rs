//! The code that `#[derive(Data)]` and `#[derive(Carry)]` generate from the model of a type.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Generics, Ident, parse_quote};

use super::Way;
use super::model::{Field, Form, Model, Shape, Variant, speaks_of};

pub(crate) fn code(model: &Model, way: Way) -> TokenStream {
    let Model { name, erlang, about, form, .. } = model;
    let generics = bounded(model, way);
    let (path, write, read) = (way.path(), way.write(), way.read());
    let (parameters, arguments, wheres) = generics.split_for_impl();
    let (encode, decode, definition) = match form {
        Form::Same(field) => {
            let (member, ty) = (&field.member, &field.ty);
            (
                quote! { #path::#write(&self.#member, env) },
                quote! { <#ty as #path>::#read(term).map(|value| Self { #member: value }) },
                quote! { <#ty as ::otp::Data>::erlang_type() },
            )
        }
        Form::Struct(shape) => {
            let members: Vec<_> = shape.fields().iter().map(|field| &field.member).collect();
            let values: Vec<_> = members.iter().map(|member| quote! { &self.#member }).collect();
            let value = encode_shape(shape, &values, way);
            let encode = match shape {
                Shape::Map { .. } => value,
                Shape::Tuple(..) => tagged(erlang, &value),
            };
            let expected = pattern(erlang, shape);
            let read = match shape {
                Shape::Map { .. } => {
                    let read = decode_map(shape, &quote! { Self }, &quote! { term }, way);
                    quote! { ::core::result::Result::Ok({ #read }) }
                }
                Shape::Tuple(fields, _) => {
                    let read = decode_tuple(erlang, fields, &quote! { Self }, None, way);
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
        Form::Enum(variants) => enumeration(variants, way),
    };
    let absent = if let Form::Same(field) = form {
        let Field { ty, member, .. } = &**field;
        quote! {
            fn absent() -> ::core::option::Option<Self> {
                <#ty as #path>::absent().map(|value| Self { #member: value })
            }
        }
    } else {
        TokenStream::new()
    };
    let erlang_type = (way == Way::Data).then(|| {
        quote! {
            fn erlang_type() -> ::std::string::String {
                ::otp::data::types::named(::core::any::type_name::<Self>(), #erlang, #about, || #definition)
            }
        }
    });
    // What may be sent may go over too, in the same form.
    let too = (way == Way::Data).then(|| {
        quote! {
            #[automatically_derived]
            impl #parameters ::otp::Carry for #name #arguments #wheres {
                fn carry<'a>(&self, env: ::otp::vm::Env<'a>) -> ::otp::vm::Term<'a> {
                    ::otp::Data::encode(self, env)
                }

                fn carried(term: ::otp::vm::Term<'_>) -> ::core::result::Result<Self, ::otp::Malformed> {
                    ::otp::Data::decode(term)
                }

                fn absent() -> ::core::option::Option<Self> {
                    <Self as ::otp::Data>::absent()
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #path for #name #arguments #wheres {
            #[inline]
            fn #write<'a>(&self, env: ::otp::vm::Env<'a>) -> ::otp::vm::Term<'a> {
                #encode
            }

            #[inline]
            fn #read(term: ::otp::vm::Term<'_>) -> ::core::result::Result<Self, ::otp::Malformed> {
                #decode
            }

            #erlang_type

            #absent
        }

        #too
    }
}

/// The bounds of the type's parameters.
fn bounded(model: &Model, way: Way) -> Generics {
    let (mut generics, path) = (model.generics.clone(), way.path());
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#path));
    }
    let fields = match &model.form {
        Form::Same(_) => Vec::new(),
        Form::Struct(shape) => shape.fields().iter().collect(),
        Form::Enum(variants) => variants.iter().flat_map(|variant| variant.shape.fields()).collect(),
    };
    for field in fields {
        if (matches!(field.default, Some(None)) || matches!(field.anew, Some(None)))
            && speaks_of(&field.ty, &model.generics)
        {
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

fn enumeration(variants: &[Variant], way: Way) -> (TokenStream, TokenStream, TokenStream) {
    let encoded = variants.iter().map(|Variant { name, erlang, shape }| {
        let members = shape.fields().iter().map(|field| &field.member);
        let names: Vec<Ident> = (0..shape.fields().len()).map(|number| format_ident!("field_{number}")).collect();
        let values: Vec<_> = names.iter().map(|name| quote! { #name }).collect();
        let value = encode_shape(shape, &values, way);
        let value = match shape {
            Shape::Map { .. } => quote! { [#value.raw()] },
            Shape::Tuple(..) => value,
        };
        let value = tagged(erlang, &value);
        quote! {
            #[allow(unused_variables)]
            Self::#name { #(#members: #names),* } => #value
        }
    });
    let decoded = variants.iter().map(|Variant { name, erlang, shape }| match shape {
        Shape::Tuple(fields, _) => decode_tuple(erlang, fields, &quote! { Self::#name }, Some(erlang), way),
        Shape::Map { .. } => {
            let read = decode_map(shape, &quote! { Self::#name }, &quote! { map }, way);
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
fn encode_shape(shape: &Shape, values: &[TokenStream], way: Way) -> TokenStream {
    let (path, write) = (way.path(), way.write());
    let those = shape.fields().iter().zip(values).filter(|(field, _)| field.goes_over());
    let encoded = those.map(|(_, value)| quote! { #path::#write(#value, env).raw() });
    match shape {
        Shape::Tuple(..) => quote! { [#(#encoded),*] },
        Shape::Map { fields, structure: None, .. } => {
            let keys = fields.iter().filter(|field| field.goes_over()).map(|field| &field.erlang);
            quote! { ::otp::data::derived::map(env, [#(::otp::atom!(#keys)),*], [#(#encoded),*]) }
        }
        Shape::Map { fields, structure: Some(module), .. } => {
            let keys = fields.iter().map(|field| &field.erlang);
            let values = values.iter().map(|value| quote! { ::otp::data::derived::encode_or_nil(#value, env).raw() });
            quote! {
                ::otp::data::derived::map(
                    env,
                    [::otp::atom!("__struct__"), #(::otp::atom!(#keys)),*],
                    [::otp::atom!(#module).term(env).raw(), #(#values),*]
                )
            }
        }
    }
}

/// The atom, or the tuple of it and what `rest`, an array, holds.
fn tagged(tag: &str, rest: &TokenStream) -> TokenStream {
    quote! { ::otp::data::derived::tuple(env, ::otp::atom!(#tag), #rest) }
}

/// Reads an atom or a tuple if it is this one, and returns.
fn decode_tuple(
    tag: &str,
    fields: &[Field],
    constructor: &TokenStream,
    within: Option<&String>,
    way: Way,
) -> TokenStream {
    let element = way.element();
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
            return ::core::result::Result::Ok(#constructor { #(#members: elements.#element::<#types>(#indices)#within?),* });
        }
    }
}

/// Reads a map, as statements and an expression. What is made anew sees the fields that went over, by their names.
fn decode_map(shape: &Shape, constructor: &TokenStream, map: &TokenStream, way: Way) -> TokenStream {
    let Shape::Map { fields, open, structure } = shape else { return TokenStream::new() };
    let (field, field_or) = way.field();
    let members: Vec<_> = fields.iter().map(|field| &field.member).collect();
    let each = fields.iter().filter(|field| field.goes_over()).map(|Field { member, erlang, ty, default, .. }| {
        let read = match default {
            None => quote! { #field::<#ty>(::otp::atom!(#erlang)) },
            Some(None) => {
                quote! { #field_or::<#ty>(::otp::atom!(#erlang), <#ty as ::core::default::Default>::default) }
            }
            Some(Some(value)) => quote! { #field_or::<#ty>(::otp::atom!(#erlang), || #value) },
        };
        quote! { let #member = otp_fields.#read?; }
    });
    let anew = fields.iter().filter_map(|Field { member, ty, anew, .. }| {
        Some(match anew.as_ref()? {
            None => quote! { let #member: #ty = ::core::default::Default::default(); },
            Some(value) => quote! { let #member: #ty = #value; },
        })
    });
    let keys = fields.iter().filter(|field| field.goes_over()).map(|field| &field.erlang);
    let tag = structure.iter().map(|_| quote! { ::otp::atom!("__struct__"), });
    let finish = (!open).then(|| quote! { otp_fields.finish(&[#(#tag)* #(::otp::atom!(#keys)),*])?; });
    let is_struct = structure.as_ref().map(|module| quote! { otp_fields.are_of_struct(::otp::atom!(#module))?; });
    quote! {
        #[allow(unused_mut)]
        let mut otp_fields = ::otp::data::derived::Fields::of(#map)?;
        #is_struct
        #(#each)*
        #finish
        #(#anew)*
        #constructor { #(#members),* }
    }
}

/// The type of the map; or of a tuple the array of those of what follows its tag.
fn type_of(shape: &Shape) -> TokenStream {
    match shape {
        Shape::Map { fields, open, structure: None } => {
            let each = fields.iter().map(|Field { erlang, ty, default, .. }| {
                let has_default = default.is_some();
                quote! { ::otp::data::derived::entry::<#ty>(#erlang, #has_default) }
            });
            quote! { ::otp::data::derived::map_type(&[#(#each),*], #open) }
        }
        Shape::Map { fields, open, structure: Some(module) } => {
            let each = fields.iter().map(|Field { erlang, ty, .. }| {
                quote! { ::otp::data::derived::entry_or_nil::<#ty>(#erlang) }
            });
            quote! { ::otp::data::derived::map_type(&[::otp::data::derived::tag_entry(#module), #(#each),*], #open) }
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

/// The expected form, for the error to a sender of something else.
fn pattern(tag: &str, shape: &Shape) -> String {
    match shape {
        Shape::Map { .. } => format!("{{{tag}, #{{…}}}}"),
        Shape::Tuple(fields, _) if fields.is_empty() => tag.to_owned(),
        Shape::Tuple(fields, _) => format!("{{{tag}{}}}", ", _".repeat(fields.len())),
    }
}
