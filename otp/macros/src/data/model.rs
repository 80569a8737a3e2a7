//! The model of a type under `#[derive(Data)]` or `#[derive(Carry)]`: the struct or enum as the user wrote it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Expr, Fields, Generics, Ident, Member, Result, Type};

use super::Way;
use super::attributes::Attributes;
use crate::behaviour::{Problems, described, snake};

/// A type as it was written, and its form in Erlang.
pub(crate) struct Model {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    /// Its name in Erlang: of its type, and of the atom that it is or begins with, if there is one.
    pub(crate) erlang: String,
    pub(crate) about: String,
    pub(crate) form: Form,
}

pub(crate) enum Form {
    /// A newtype: the form is that of its only field.
    Same(Box<Field>),
    /// The map, or the tuple without its tag's text, which a struct is.
    Struct(Shape),
    Enum(Vec<Variant>),
}

/// How fields stand in Erlang.
pub(crate) enum Shape {
    /// An atom, or a tuple that begins with it; whether the fields have names.
    Tuple(Vec<Field>, bool),
    Map {
        fields: Vec<Field>,
        open: bool,
        /// The module of the struct of Elixir's that it is.
        structure: Option<String>,
    },
}

pub(crate) struct Variant {
    pub(crate) name: Ident,
    pub(crate) erlang: String,
    pub(crate) shape: Shape,
}

pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) erlang: String,
    pub(crate) ty: Type,
    /// Whether it may be absent, and what it is then if not its type's default.
    pub(crate) default: Option<Option<Expr>>,
    /// Whether it has no form and is made anew, and how if not as its type's default.
    pub(crate) anew: Option<Option<Expr>>,
}

impl Model {
    pub(crate) fn read(item: TokenStream, way: Way) -> Result<Self> {
        let input: DeriveInput = syn::parse2(item)?;
        let mut wrong = Problems::default();
        for lifetime in input.generics.lifetimes() {
            wrong.add(lifetime, "a value that is read owns all that it holds, so its type has no lifetimes");
        }
        let name = input.ident.clone();
        let form = match &input.data {
            Data::Struct(data) => structure(&input, &data.fields, way, &mut wrong),
            Data::Enum(data) => enumeration(&input, data, way, &mut wrong),
            Data::Union(data) => {
                wrong.add(&data.union_token, "nobody knows which field of a union is there: use an enum");
                None
            }
        };
        wrong.finish()?;
        let (renamed, form) = form.ok_or_else(|| Error::new_spanned(&name, "this has no form in Erlang"))?;
        let erlang = renamed.unwrap_or_else(|| snake(&name.unraw().to_string()));
        Ok(Self { name, generics: input.generics.clone(), erlang, about: described(&input.attrs), form })
    }
}

fn structure(input: &DeriveInput, written: &Fields, way: Way, wrong: &mut Problems) -> Option<(Option<String>, Form)> {
    let allowed: &[&str] =
        if matches!(written, Fields::Named(_)) { &["rename", "record", "open", "struct"] } else { &["rename"] };
    let what = match written {
        Fields::Named(_) => "a struct",
        _ => "a struct without names of fields",
    };
    let attributes = Attributes::read(&input.attrs, what, allowed, wrong);
    if let (Some(_), Some(open)) = (&attributes.record, &attributes.open) {
        wrong.add(open, "a record is a tuple, which has as many elements as it has fields: only a map can be open");
    }
    if let (Some(_), Some(structure)) = (&attributes.record, &attributes.structure) {
        wrong.add(structure, "a record is a tuple, and a struct of Elixir's is a map: it is one of them");
    }
    let renamed = attributes.rename.map(|name| name.value());
    // Between builds it is a map like any other.
    let structure = attributes.structure.filter(|_| way == Way::Data).map(|module| module.value());
    let form = match shape(written, attributes.record.is_some(), attributes.open.is_some(), way, wrong) {
        Shape::Map { fields, open, .. } => Form::Struct(Shape::Map { fields, open, structure }),
        Shape::Tuple(mut fields, false) if fields.len() == 1 => Form::Same(Box::new(fields.remove(0))),
        shape => Form::Struct(shape),
    };
    Some((renamed, form))
}

fn enumeration(
    input: &DeriveInput,
    data: &syn::DataEnum,
    way: Way,
    wrong: &mut Problems,
) -> Option<(Option<String>, Form)> {
    let attributes = Attributes::read(&input.attrs, "an enum", &["rename", "open"], wrong);
    if data.variants.is_empty() {
        wrong.add(&input.ident, "an enum without variants has no values, so it has no form in Erlang");
    }
    let mut variants: Vec<Variant> = Vec::new();
    for variant in &data.variants {
        let of_variant = Attributes::read(&variant.attrs, "a variant", &["rename"], wrong);
        let erlang = of_variant.rename.map_or_else(|| snake(&variant.ident.unraw().to_string()), |name| name.value());
        let shape = shape(&variant.fields, false, attributes.open.is_some(), way, wrong);
        let same = variants.iter().find(|other| other.erlang == erlang && other.shape.length() == shape.length());
        if let Some(other) = same {
            let both = match shape.length() {
                0 => format!("both are the atom {erlang}"),
                length => format!("both are tuples of {} that begin with {erlang}", length + 1),
            };
            wrong.add(&variant.ident, &format!("in Erlang this could not be told from {}: {both}", other.name));
        }
        variants.push(Variant { name: variant.ident.clone(), erlang, shape });
    }
    if let Some(open) = &attributes.open
        && !variants.iter().any(|variant| matches!(variant.shape, Shape::Map { .. }))
    {
        wrong.add(open, "only a map can be open, and none of these variants has names of fields");
    }
    Some((attributes.rename.map(|name| name.value()), Form::Enum(variants)))
}

impl Field {
    /// Whether it stands in the form.
    pub(crate) fn goes_over(&self) -> bool {
        self.anew.is_none()
    }
}

impl Shape {
    /// How many elements follow the tag.
    fn length(&self) -> usize {
        match self {
            Self::Tuple(fields, _) => fields.len(),
            Self::Map { .. } => 1,
        }
    }
}

fn shape(written: &Fields, record: bool, open: bool, way: Way, wrong: &mut Problems) -> Shape {
    let named = matches!(written, Fields::Named(_));
    let map = named && !record;
    let (what, allowed): (_, &[&str]) = match (map, named) {
        (true, _) if way == Way::Carry => ("a field", &["rename", "default", "anew"]),
        (true, _) => ("a field", &["rename", "default"]),
        (_, true) => ("a field of a record, which has a place and not a key,", &[]),
        _ => ("a field without a name", &[]),
    };
    let mut fields: Vec<Field> = Vec::new();
    for (field, member) in written.iter().zip(written.members()) {
        let attributes = read_of_field(field, what, allowed, wrong);
        let erlang = attributes.rename.map_or_else(|| plain(&member), |name| name.value());
        if let Some(other) = fields.iter().find(|other| map && other.erlang == erlang) {
            let other = plain(&other.member);
            wrong.add(&member, &format!("{other} has the key {erlang} in Erlang already"));
        }
        fields.push(Field {
            member,
            erlang,
            ty: field.ty.clone(),
            default: attributes.default.map(|(_, value)| value),
            anew: attributes.anew.map(|(_, value)| value),
        });
    }
    if map { Shape::Map { fields, open, structure: None } } else { Shape::Tuple(fields, named) }
}

fn read_of_field(field: &syn::Field, what: &str, allowed: &[&str], wrong: &mut Problems) -> Attributes {
    if allowed.is_empty() {
        let ours = field.attrs.iter().filter(|attribute| attribute.path().is_ident("otp"));
        ours.for_each(|attribute| wrong.add(attribute, &format!("{what} takes no #[otp(…)]")));
        return Attributes::default();
    }
    Attributes::read(&field.attrs, what, allowed, wrong)
}

fn plain(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether a type speaks of a parameter of these.
pub(crate) fn speaks_of(ty: &Type, generics: &Generics) -> bool {
    fn any(tokens: TokenStream, found: &impl Fn(&Ident) -> bool) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(name) => found(&name),
            proc_macro2::TokenTree::Group(group) => any(group.stream(), found),
            _ => false,
        })
    }
    any(ty.to_token_stream(), &|name| generics.type_params().any(|parameter| parameter.ident == *name))
}
