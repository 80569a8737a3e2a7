//! The templates of `new` and `add`: the files of the folder `templates`, with placeholders.
//!
//! A folder in `templates/new` is a template of an application, and a file in `templates/add` is a template of a behaviour; no
//! other list of templates exists. The suffix `.template` is removed from file names: a file named Cargo.toml would make its
//! folder a package.

use include_dir::{Dir, include_dir};

static ALL: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// What stands for the placeholders.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    /// For `{{name}}`, and as a type for `{{Name}}`.
    pub(crate) name: &'a str,
    /// For `{{otp}}`: where `kizami-otp` comes from.
    pub(crate) otp: &'a str,
}

impl Values<'_> {
    fn fill(&self, text: &str) -> String {
        text.replace("{{name}}", self.name).replace("{{Name}}", &as_type(self.name)).replace("{{otp}}", self.otp)
    }
}

/// The names of the applications' templates.
pub(crate) fn applications() -> Vec<&'static str> {
    let folders = ALL.get_dir("new").into_iter().flat_map(Dir::dirs);
    folders.filter_map(|folder| folder.path().file_name()?.to_str()).collect()
}

/// The behaviours that there is a template for.
pub(crate) fn behaviours() -> Vec<&'static str> {
    let files = ALL.get_dir("add").into_iter().flat_map(Dir::files);
    files.filter_map(|file| file.path().file_stem()?.to_str()).collect()
}

/// The files of an application, with their paths in its folder.
pub(crate) fn application(template: &str, values: &Values<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    if let Some(folder) = ALL.get_dir(format!("new/{template}")) {
        gather(folder, folder, values, &mut files);
    }
    files
}

fn gather(top: &Dir<'_>, folder: &Dir<'_>, values: &Values<'_>, files: &mut Vec<(String, String)>) {
    for file in folder.files() {
        let path = file.path().strip_prefix(top.path()).unwrap_or(file.path()).display().to_string();
        let path = path.strip_suffix(".template").unwrap_or(&path).to_owned();
        files.push((path, values.fill(file.contents_utf8().unwrap_or_default())));
    }
    folder.dirs().for_each(|inner| gather(top, inner, values, files));
}

/// The source of a behaviour.
pub(crate) fn behaviour(template: &str, values: &Values<'_>) -> Option<String> {
    let file = ALL.get_file(format!("add/{template}.rs"))?;
    file.contents_utf8().map(|text| values.fill(text))
}

/// `message_log` as the name of a type: `MessageLog`.
pub(crate) fn as_type(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Values<'_> = Values { name: "message_log", otp: "\"1\"" };

    #[test]
    fn no_placeholder_is_left() {
        let mut texts: Vec<_> =
            applications().iter().flat_map(|template| application(template, &VALUES)).map(|(_, text)| text).collect();
        texts.extend(behaviours().iter().filter_map(|template| behaviour(template, &VALUES)));
        assert!(texts.len() >= 9, "{}", texts.len());
        assert!(texts.iter().all(|text| !text.contains("{{") && !text.is_empty()), "{texts:?}");
    }

    #[test]
    fn an_application_has_what_cargo_looks_for() {
        for template in applications() {
            let files = application(template, &VALUES);
            for needed in ["Cargo.toml", "src/lib.rs", ".gitignore"] {
                assert!(files.iter().any(|(path, _)| path == needed), "{template} has no {needed}: {files:?}");
            }
        }
    }

    #[test]
    fn a_name_becomes_a_type() {
        assert_eq!(["a", "message_log", "_x_1"].map(as_type), ["A", "MessageLog", "X1"]);
    }
}
