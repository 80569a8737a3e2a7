//! `INCLUDE`: takes in other `.cfg` files.
//!
//! An INCLUDE may stand under a condition of the preprocessor, and then its file need not be there. So the preprocessor
//! of the target's compiler is asked which of them are left, before a file is opened; and again for what those files
//! include.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::fault::{Fault, Place};
use crate::parse::parse;
use crate::syntax::{Argument, Item, Statement};
use crate::target::Target;
use crate::text::clean;
use crate::values::{BEGINNING, WITH_LINES, told};

/// Where files are looked for, and what preprocesses them.
pub struct Files<'a> {
    /// Folders besides that of the including file.
    pub include: &'a [PathBuf],
    /// The folder of the files that come with the kernel.
    pub own: &'a Path,
    /// The compiler, its folders for `#include`, and its definitions.
    pub target: Target,
    pub headers: &'a [&'a Path],
    pub defines: &'a [String],
    /// Where the preprocessor's input is written.
    pub folder: &'a Path,
}

/// An item, with the files that it comes from, each included by the one before.
struct Read {
    item: Item,
    from: Vec<PathBuf>,
}

impl Read {
    fn includes(&self) -> Option<&Statement> {
        match &self.item {
            Item::Statement(statement) if statement.name == "INCLUDE" => Some(statement),
            _ => None,
        }
    }
}

impl Files<'_> {
    /// Reads a file and all that it includes. `header` writes `kernel_cfg.h` for the items that are known so far.
    pub fn read(&self, path: &Path, header: impl Fn(&[Item]) -> Result<()>) -> Result<Vec<Item>> {
        let mut all = self.open(path, &[])?;
        while all.iter().any(|read| read.includes().is_some()) {
            let items: Vec<Item> = all.iter().map(|read| read.item.clone()).collect();
            header(&items)?;
            let present = self.present(&items)?;
            let mut more = Vec::new();
            for (number, read) in all.into_iter().enumerate() {
                match read.includes() {
                    None => more.push(read),
                    Some(statement) if present.contains(&number) => more.extend(self.take_in(statement, &read.from)?),
                    Some(_) => {}
                }
            }
            all = more;
        }
        Ok(all.into_iter().map(|read| read.item).collect())
    }

    /// The items of a file that is included by others.
    fn open(&self, path: &Path, by: &[PathBuf]) -> Result<Vec<Read>> {
        let name = path.display().to_string();
        let place = Place { file: name.clone(), line: 1 };
        let unreadable = |error| refused(Fault::new(&place, format!("cannot be read: {error}")));
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let real = path.canonicalize().map_err(unreadable)?;
        if by.contains(&real) {
            return Err(refused(Fault::new(&place, "the file includes itself")));
        }
        let mut from = by.to_vec();
        from.push(real);
        let items = clean(&bytes, &name).and_then(|text| parse(&text, &name)).map_err(refused)?;
        Ok(items.into_iter().map(|item| Read { item, from: from.clone() }).collect())
    }

    /// The items of the file that a statement includes; in a class, they stand in it too.
    fn take_in(&self, statement: &Statement, from: &[PathBuf]) -> Result<Vec<Read>> {
        let mut all = self.open(&self.find(statement).map_err(refused)?, from)?;
        for read in &mut all {
            if let Item::Statement(inner) = &mut read.item
                && inner.class.is_none()
            {
                inner.class.clone_from(&statement.class);
            }
        }
        Ok(all)
    }

    /// The file that an INCLUDE names.
    fn find(&self, statement: &Statement) -> Result<PathBuf, Fault> {
        let [Argument::Text(file, _)] = &statement.arguments[..] else {
            return Err(Fault::new(&statement.place, "INCLUDE takes the name of a file"));
        };
        let file = file.trim_matches(['"', '<', '>']);
        if file.ends_with(".h") {
            let what = format!("INCLUDE is for .cfg files; the C header needs #include \"{file}\"");
            return Err(Fault::new(&statement.place, what));
        }
        let beside = Path::new(&statement.place.file).parent().unwrap_or(Path::new(""));
        let folders = || std::iter::once(beside).chain(self.include.iter().map(PathBuf::as_path));
        let all = folders().chain([self.own]);
        all.map(|folder| folder.join(file)).find(|path| path.is_file()).ok_or_else(|| {
            let looked: Vec<String> = folders().map(|folder| folder.join("").display().to_string()).collect();
            let looked = looked.iter().map(|folder| if folder.is_empty() { "./" } else { folder }).collect::<Vec<_>>();
            Fault::new(&statement.place, format!("there is no file {file} in {}", looked.join(", ")))
        })
    }

    /// The numbers of the INCLUDEs that the preprocessor leaves in.
    fn present(&self, items: &[Item]) -> Result<BTreeSet<usize>> {
        let mut source = format!("{BEGINNING}#include \"kernel_cfg.h\"\n");
        for (number, item) in items.iter().enumerate() {
            match item {
                Item::Directive(line, place) => writeln!(source, "{}\n{line}", place.directive())?,
                Item::Statement(statement) if statement.name == "INCLUDE" => writeln!(source, "{MARK}{number}")?,
                Item::Statement(_) => {}
            }
        }
        let file = self.folder.join("kernel_include.c");
        std::fs::write(&file, source).with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = self.target.compile(self.defines);
        command.args(WITH_LINES).args(["-w", "-E", "-P", "-o", "-"]);
        command.args(self.headers.iter().flat_map(|path| [Path::new("-I"), path])).arg(&file);
        let output = command.output().with_context(|| self.target.cannot_compile())?;
        if !output.status.success() {
            bail!("{}", told(&String::from_utf8_lossy(&output.stderr)));
        }
        let left = String::from_utf8_lossy(&output.stdout);
        Ok(left.split_whitespace().filter_map(|word| word.strip_prefix(MARK)?.parse().ok()).collect())
    }
}

/// What stands for an INCLUDE in the preprocessor's input, before its number.
const MARK: &str = "kernel_include_";

fn refused(fault: Fault) -> anyhow::Error {
    anyhow::anyhow!("{fault}")
}
