//! The attributes `#[otp(…)]` of a type, a variant or a field.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, LitStr, Path, Result, Token};

use crate::behaviour::Problems;

/// The content of `#[otp(…)]`.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) rename: Option<LitStr>,
    /// Where it stands.
    pub(crate) record: Option<Path>,
    pub(crate) open: Option<Path>,
    /// The module of a struct of Elixir's.
    pub(crate) structure: Option<LitStr>,
    /// Where it stands, and the value if it says one.
    pub(crate) default: Option<(Path, Option<Expr>)>,
    /// The same, of a field that does not go over.
    pub(crate) anew: Option<(Path, Option<Expr>)>,
}

impl Attributes {
    /// Reads what stands before something on which `allowed` means something; `what` is what that is.
    pub(crate) fn read(attributes: &[Attribute], what: &str, allowed: &[&str], wrong: &mut Problems) -> Self {
        let mut read = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("otp")) {
            // What stands behind a problem in the same parentheses is not looked at: nobody knows what it belongs to.
            let all = attribute.parse_nested_meta(|meta| read.one(&meta, what, allowed));
            if let Err(error) = all {
                wrong.also(error);
            }
        }
        read
    }

    fn one(&mut self, meta: &ParseNestedMeta<'_>, what: &str, allowed: &[&str]) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if !allowed.contains(&name.as_str()) {
            let each: Vec<_> = allowed.iter().map(|name| form(name)).collect();
            return Err(Error::new_spanned(&meta.path, format!("{what} takes {}", each.join(" or "))));
        }
        let twice = match name.as_str() {
            "rename" => {
                let text: LitStr = meta
                    .value()
                    .and_then(|value| value.parse())
                    .map_err(|error| Error::new(error.span(), "a name is a text: rename = \"…\""))?;
                check(&text)?;
                self.rename.replace(text).is_some()
            }
            "struct" => {
                let text: LitStr = meta
                    .value()
                    .and_then(|value| value.parse())
                    .map_err(|error| Error::new(error.span(), "a module is a text: struct = \"Elixir.…\""))?;
                check(&text)?;
                if !text.value().starts_with("Elixir.") {
                    let what =
                        "a module of Elixir's is an atom that begins with Elixir, as in struct = \"Elixir.User\"";
                    return Err(Error::new_spanned(&text, what));
                }
                self.structure.replace(text).is_some()
            }
            "record" => self.record.replace(meta.path.clone()).is_some(),
            "open" => self.open.replace(meta.path.clone()).is_some(),
            name => {
                let value = if meta.input.peek(Token![=]) { Some(meta.value()?.parse()?) } else { None };
                let place = if name == "anew" { &mut self.anew } else { &mut self.default };
                place.replace((meta.path.clone(), value)).is_some()
            }
        };
        if twice { Err(Error::new_spanned(&meta.path, format!("{name} is said twice"))) } else { Ok(()) }
    }
}

/// How one of them is written.
fn form(name: &str) -> String {
    match name {
        "rename" => "#[otp(rename = \"…\")]".into(),
        "struct" => "#[otp(struct = \"Elixir.…\")]".into(),
        name => format!("#[otp({name})]"),
    }
}

fn check(name: &LitStr) -> Result<()> {
    let characters = name.value().chars().count();
    if characters > 255 {
        return Err(Error::new_spanned(
            name,
            format!("an atom has at most 255 characters, and this is of {characters}"),
        ));
    }
    Ok(())
}
