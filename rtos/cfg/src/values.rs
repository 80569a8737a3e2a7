//! Numbers in a configuration: C expressions, which the C compiler for the target computes.
//!
//! Each expression is written into a function as the operand of an empty assembly statement, under a `#line` with its
//! place, so that an error of the compiler names the `.cfg` file. The compiler's assembly holds the values. The lines of
//! the preprocessor stay between them, so that a statement that they leave out has no value.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::parse::{Argument, Item};
use crate::target::Target;

/// The value of each expression, by its text's place in the order of the items: statement, then expression.
pub type Values = BTreeMap<(usize, usize), i64>;

/// The expressions of a statement, in their order, those in packets too.
pub fn expressions(arguments: &[Argument]) -> Vec<&Argument> {
    let mut all = Vec::new();
    for argument in arguments {
        match argument {
            Argument::Text(..) => all.push(argument),
            Argument::Packet(inner, _) => all.extend(expressions(inner)),
        }
    }
    all
}

/// Computes what `wanted` names: of which statement, by its place among the items and its name, which expression is a number.
/// A statement that the preprocessor leaves out has no values.
pub fn compute(
    items: &[Item],
    wanted: impl Fn(usize, &str, usize) -> bool,
    target: Target,
    include: &[&Path],
    folder: &Path,
) -> Result<Values> {
    let mut source = String::from(
        "#define KERNEL_VALUE(name, value) \\\n  __asm__ volatile(\"\\n->\" name \" %c0\" : : \"i\"((long)(value)))\n#include <kernel.h>\n#include \"kernel_cfg.h\"\n",
    );
    // Declarations stand outside of functions, so each statement gets a function of its own.
    for (number, item) in items.iter().enumerate() {
        match item {
            Item::Directive(line, place) => writeln!(source, "#line {} \"{}\"\n{line}", place.line, place.file)?,
            Item::Statement(statement) => {
                writeln!(source, "void kernel_values_{number}(void) {{ KERNEL_VALUE(\"{number}.-1\", 0);")?;
                for (index, argument) in expressions(&statement.arguments).into_iter().enumerate() {
                    if let Argument::Text(text, place) = argument
                        && wanted(number, &statement.name, index)
                    {
                        writeln!(source, "#line {} \"{}\"", place.line, place.file)?;
                        writeln!(source, "KERNEL_VALUE(\"{number}.{index}\", {text});")?;
                    }
                }
                writeln!(source, "}}")?;
            }
        }
    }
    let file = folder.join("kernel_values.c");
    std::fs::write(&file, source).with_context(|| format!("cannot write {}", file.display()))?;
    let (compiler, options) = target.compiler();
    let mut command = Command::new(compiler);
    command.args(options).args(["-O1", "-w", "-S", "-o", "-"]);
    command.args(include.iter().flat_map(|path| [Path::new("-I"), path])).arg(&file);
    let output = command.output().with_context(|| target.cannot_compile())?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

fn read(assembly: &str) -> Values {
    let mut values = Values::new();
    for line in assembly.lines() {
        let Some((name, value)) = line.strip_prefix("->").and_then(|line| line.split_once(' ')) else { continue };
        let Some((statement, index)) = name.split_once('.') else { continue };
        if let (Ok(statement), Ok(index), Ok(value)) = (statement.parse(), index.parse::<isize>(), value.trim().parse())
        {
            values.insert((statement, index as usize), value);
        }
    }
    values
}

/// Whether the preprocessor left the statement in.
pub fn is_present(values: &Values, statement: usize) -> bool {
    values.contains_key(&(statement, usize::MAX))
}
