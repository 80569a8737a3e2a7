//! The C code of a configuration: the names of objects, and the functions that know the application's own types.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::model::{C, Config, KINDS, Notify, Routine, What};
use crate::syntax::Item;
use crate::target::Target;

/// `kernel_cfg.h`: the numbers of the objects, and constants of the target.
pub fn header(names: &BTreeMap<&'static str, Vec<String>>, target: Target) -> String {
    let mut text = String::from("/* Made by rtos-cfg. */\n#ifndef KERNEL_CFG_H\n#define KERNEL_CFG_H\n\n");
    for (_, api, count) in KINDS {
        let names = names.get(api).map_or(&[][..], |names| names);
        for (index, name) in names.iter().enumerate() {
            text += &format!("#define {name} {}\n", index + 1);
        }
        text += &format!("#define {count} {}\n\n", names.len());
    }
    let _ = writeln!(text, "/* The smallest stack of a task. */");
    let _ = writeln!(text, "#define TARGET_MIN_STKSZ {}\n", target.minimum_stack());
    text + "#endif\n"
}

/// `kernel_cfg.c`: for each function of the application that the kernel calls, one that calls it with its exinf. So the C
/// compiler checks both, and says where in the `.cfg` file they are wrong.
pub fn source(items: &[Item], config: &Config) -> String {
    let mut text = String::from("/* Made by rtos-cfg. */\n#include <kernel.h>\n#include \"kernel_cfg.h\"\n");
    text += "extern void kernel_pool_is_too_small(void) __attribute__((error(\"the memory is too small for the pool (E_PAR)\")));\n";
    for item in items {
        if let Item::Directive(line, place) = item {
            // Those that leave statements out have done so.
            if ["#include", "#define", "#undef", "#pragma"].iter().any(|one| line.replace(' ', "").starts_with(one)) {
                let _ = writeln!(text, "{}\n{line}", place.directive());
            }
        }
    }
    for object in &config.objects {
        // What the kernel does not need is memory nevertheless.
        if let Some(unused) = &object.unused {
            let _ = writeln!(text, "const void *const kernel_unused_{} =\n{};", object.name, at(unused));
        }
        match &object.what {
            What::MemoryPool { blocks, size, within: Some(memory), .. } => {
                pool(&mut text, &object.name, memory, *blocks, *size);
            }
            What::Task { entry, exinf, .. } => {
                let _ = writeln!(text, "const intptr_t kernel_exinf_{} =\n{};", object.name, at(&cast(exinf)));
                call(&mut text, &format!("kernel_start_{}", object.name), entry, exinf);
                text.truncate(text.trim_end().len() - 1);
                text += "\n    (void)ext_tsk();\n}\n";
            }
            What::Cyclic { notify, .. } | What::Alarm { notify } => {
                let name = format!("kernel_notify_{}", object.name);
                match notify {
                    Notify::Handler(function, exinf) => call(&mut text, &name, function, exinf),
                    Notify::Statement(statement) => {
                        let _ = writeln!(text, "void {name}(void *unused)\n{{\n(void)unused;\n{};\n}}", at(statement));
                    }
                }
            }
            _ => {}
        }
    }
    for (number, service) in config.services.iter().enumerate() {
        let name = format!("kernel_service_{number}");
        match &service.exinf {
            Some(exinf) => call(&mut text, &name, &service.handler, exinf),
            None => {
                let call = C { text: format!("({})()", service.handler.text), place: service.handler.place.clone() };
                let _ = writeln!(text, "void {name}(void *unused)\n{{\n(void)unused;\n{};\n}}", at(&call));
            }
        }
    }
    for (number, handler) in config.exceptions.iter().enumerate() {
        let call = C { text: format!("({})(p_excinf)", handler.function.text), place: handler.function.place.clone() };
        let _ = writeln!(text, "void kernel_exception_{number}(void *p_excinf)\n{{\n{};\n}}", at(&call));
    }
    if let Some(function) = &config.overrun {
        let text_of = format!("({})(tskid, (EXINF)*(const intptr_t *)exinf)", function.text);
        let call = C { text: text_of, place: function.place.clone() };
        let _ = writeln!(text, "void kernel_overrun(ID tskid, void *exinf)\n{{\n{};\n}}", at(&call));
    }
    for (name, all) in [("kernel_initialise", &config.initial), ("kernel_terminate", &config.terminal)] {
        routines(&mut text, &format!("{name}(void)"), all.iter().filter(|routine| routine.processor.is_none()));
        routines(&mut text, &format!("{name}_each(int kernel_here)"), all.iter().filter(|one| one.processor.is_some()));
    }
    text
}

/// Checks that the memory of a pool is an array of MPF_T, and large enough, as far as its declaration says how large it is.
fn pool(text: &mut String, name: &str, memory: &C, blocks: i64, size: i64) {
    let _ = writeln!(text, "void kernel_pool_{name}(void)\n{{");
    let array = &memory.text;
    for check in [
        format!(
            "_Static_assert(__builtin_types_compatible_p(__typeof__(*({array})), MPF_T), \"the memory is not an array of MPF_T (E_PAR)\");"
        ),
        format!(
            "if (__builtin_object_size({array}, 0) < {blocks} * COUNT_MPF_T({size}) * sizeof(MPF_T)) kernel_pool_is_too_small();"
        ),
    ] {
        let _ = writeln!(text, "{}", at(&C { text: check, place: memory.place.clone() }));
    }
    text.push_str("}\n");
}

/// A function that calls these routines, each on its processor, if it has one.
fn routines<'a>(text: &mut String, function: &str, all: impl Iterator<Item = &'a Routine>) {
    let _ = writeln!(text, "void {function}\n{{");
    for Routine { function, exinf, processor } in all {
        let call = C { text: format!("({})((EXINF)({}))", function.text, exinf.text), place: function.place.clone() };
        if let Some(processor) = processor {
            let _ = writeln!(text, "if (kernel_here == {processor})");
        }
        let _ = writeln!(text, "{};", at(&call));
    }
    text.push_str("}\n");
}

fn cast(c: &C) -> C {
    C { text: format!("(intptr_t)({})", c.text), place: c.place.clone() }
}

fn at(c: &C) -> String {
    format!("{}\n{}", c.place.directive(), c.text)
}

fn call(text: &mut String, name: &str, function: &C, exinf: &C) {
    let call = C { text: format!("({})((EXINF)({}))", function.text, exinf.text), place: function.place.clone() };
    let _ = writeln!(text, "void {name}(void *unused)\n{{\n(void)unused;\n{};\n}}", at(&call));
}
