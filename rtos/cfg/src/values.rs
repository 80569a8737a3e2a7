//! Numbers in a configuration: C expressions, which the C compiler for the target computes.
//!
//! Each expression is written as the value of a constant, under a `#line` with its place, so that an error of the
//! compiler names the `.cfg` file. An empty assembly statement writes the constant into the compiler's assembly. The
//! lines of the preprocessor stay between the constants, so a statement that they leave out has no value.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::fault::Fault;
use crate::model::is_name;
use crate::shape::{self, Kind, Shape};
use crate::syntax::{Argument, Item};
use crate::target::Target;

/// The value of each number: by the place of its statement among the items, and its own among the statement's fields.
pub type Values = BTreeMap<(usize, usize), i64>;

/// A number is written in four pieces, which any compiler can write into its assembly, whatever its own numbers are.
pub(crate) const BEGINNING: &str = r#"
#define KERNEL_PIECE(shift) "i"((int)((unsigned long long)kernel_value >> (shift) & 0xffff))
#define KERNEL_WRITE(name) \
  __asm__ volatile("\n->" name " %c0 %c1 %c2 %c3" : : KERNEL_PIECE(48), KERNEL_PIECE(32), KERNEL_PIECE(16), KERNEL_PIECE(0))
#include <kernel.h>
"#;

/// Makes the compiler report file and line, and no source text, which is not that of the `.cfg` file.
pub(crate) const WITH_LINES: [&str; 2] = ["-fno-diagnostics-show-caret", "-fno-show-column"];

/// Computes the numbers of all statements. One that the preprocessor leaves out has no values.
pub fn compute(items: &[Item], target: Target, include: &[&Path], defines: &[String], folder: &Path) -> Result<Values> {
    let mut source = String::from(BEGINNING);
    for name in items.iter().filter_map(Item::name) {
        if let Argument::Text(text, place) = name
            && is_name(text)
        {
            let what = format!("#error '{text}' is a word of kernel.h already (E_OBJ)");
            writeln!(source, "#ifdef {text}\n{}\n{what}\n#endif", place.directive())?;
            // Whose declaration could not be read, as the name stands for a number.
            if items.iter().filter_map(shape::function).any(|function| function == text) {
                bail!("{}", Fault::new(place, format!("'{text}' is the name of a function too (E_OBJ)")));
            }
        }
    }
    writeln!(source, "#include \"kernel_cfg.h\"")?;
    // Declarations stand outside of functions, so each statement gets a function of its own.
    for (number, item) in items.iter().enumerate() {
        match item {
            Item::Directive(line, place) => writeln!(source, "{}\n{line}", place.directive())?,
            Item::Statement(statement) => {
                writeln!(source, "void kernel_values_{number}(void) {{")?;
                writeln!(source, "{{ static const long long kernel_value = 0; KERNEL_WRITE(\"{number}.-1\"); }}")?;
                // What does not have its shape is told of when it is known to be there.
                let fields = Shape::of(&statement.name).and_then(|shape| shape.fields(statement).ok());
                for (index, (field, argument)) in fields.into_iter().flatten().enumerate() {
                    if let ((_, Kind::Number), Argument::Text(text, place)) = (field, argument) {
                        let value = format!(
                            "static const long long kernel_value =\n{}\n(long long)({text});",
                            place.directive()
                        );
                        writeln!(source, "{{ {value} KERNEL_WRITE(\"{number}.{index}\"); }}")?;
                    }
                }
                writeln!(source, "}}")?;
            }
        }
    }
    let file = folder.join("kernel_values.c");
    std::fs::write(&file, source).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = target.compile(defines);
    command.args(WITH_LINES).args(["-O1", "-w", "-S", "-o", "-"]);
    command.args(include.iter().flat_map(|path| [Path::new("-I"), path])).arg(&file);
    let output = command.output().with_context(|| target.cannot_compile())?;
    if !output.status.success() {
        bail!("{}", told(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

/// The messages of a compiler about a source that is made here, without the names of that source.
pub(crate) fn told(said: &str) -> String {
    let strange = |line: &str| line.contains(": In function ") || line.contains(": note: each undeclared");
    let mut told = Vec::new();
    for line in said.lines().filter(|line| !strange(line)) {
        match line.split_once(": note: in expansion of macro") {
            // What cannot be written as a number is told of where it was to be written.
            Some((place, _)) if told.last().is_some_and(|last: &String| last.contains("impossible constraint")) => {
                told.pop();
                told.push(format!("{place}: error: a number was expected (E_PAR)"));
            }
            _ => told.push(line.to_string()),
        }
    }
    // Once, not for each piece of the number.
    told.dedup();
    told.join("\n")
}

fn read(assembly: &str) -> Values {
    let mut values = Values::new();
    for line in assembly.lines() {
        let Some((name, value)) = line.strip_prefix("->").and_then(|line| line.split_once(' ')) else { continue };
        let Some((statement, index)) = name.split_once('.') else { continue };
        let pieces: Vec<u64> = value.split_whitespace().filter_map(|piece| piece.parse().ok()).collect();
        if let (Ok(statement), Ok(index), [_, _, _, _]) = (statement.parse(), index.parse::<isize>(), &pieces[..]) {
            let value = pieces.iter().fold(0, |value, piece| value << 16 | piece);
            values.insert((statement, index as usize), value as i64);
        }
    }
    values
}

/// Whether the preprocessor left the statement in.
pub fn is_present(values: &Values, statement: usize) -> bool {
    values.contains_key(&(statement, usize::MAX))
}
