//! The functions of a kernel, from the file that has its symbols.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

use crate::error::Error;

/// The address of each function, and its name. Where code ends there is one more, without a name.
///
/// # Errors
/// When the file is none of a kernel with its symbols.
pub fn functions(file: &Path) -> Result<BTreeMap<u64, String>, Error> {
    let bytes = fs::read(file).map_err(Error::io("read", file))?;
    let form = |why: String| Error::Form { path: file.to_owned(), why };
    let object = object::File::parse(&*bytes).map_err(|e| form(e.to_string()))?;
    let is_code =
        |flags| matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & u64::from(elf::SHF_EXECINSTR) != 0);
    let code: Vec<_> = object.sections().filter(|section| is_code(section.flags())).collect();
    let in_code = |symbol: &object::Symbol<'_, '_>| {
        symbol.section_index().is_some_and(|index| code.iter().any(|section| section.index() == index))
    };
    let sized = |symbol: &object::Symbol<'_, '_>| symbol.kind() == SymbolKind::Text && symbol.size() > 0;
    let start = |symbol: &object::Symbol<'_, '_>| symbol.address() & !1;
    let ends: BTreeMap<u64, u64> =
        object.symbols().filter(sized).map(|symbol| (start(&symbol), start(&symbol) + symbol.size())).collect();
    let within = |address: u64| ends.range(..address).next_back().is_some_and(|(_, end)| address < *end);
    let mut functions: BTreeMap<u64, String> = BTreeMap::new();
    for symbol in object.symbols().filter(in_code) {
        let Ok(name) = symbol.name() else { continue };
        // Where instructions of one kind, or data, begin ($t, $d), labels of the assembler's, and places within a function are no functions.
        if name.is_empty() || name.starts_with(['$', '.']) || within(start(&symbol)) {
            continue;
        }
        // The last bit says that instructions are of the short kind.
        let known = functions.entry(symbol.address() & !1).or_insert_with(|| name.to_owned());
        if rank(name) < rank(known) {
            name.clone_into(known);
        }
    }
    if functions.is_empty() {
        return Err(form("it has no symbols of functions".into()));
    }
    for section in code {
        functions.entry(section.address() + section.size()).or_default();
    }
    Ok(functions)
}

/// Where the kernel begins, unpacked.
///
/// # Errors
/// When the file is none of a kernel for small boards.
pub fn entry(file: &Path) -> Result<u32, Error> {
    let bytes = fs::read(file).map_err(Error::io("read", file))?;
    let form = |why: String| Error::Form { path: file.to_owned(), why };
    let object = object::File::parse(&*bytes).map_err(|e| form(e.to_string()))?;
    u32::try_from(object.entry() & !1).map_err(|_| form("it begins beyond 4 GB".into()))
}

/// Of several names of one function the plainest is told.
fn rank(name: &str) -> (bool, usize, usize) {
    let marks = name.chars().take_while(|c| *c == '_').count();
    (name.contains('.'), marks, name.len())
}
