//! The gate: instructions that a program for one processor must not contain, and the bounds of what services cost.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::process::Command;

use inspect::code::{Code, Instruction};
use inspect::table::count_in;
use inspect::{Model, Platform, image};

/// Code that runs before the first task, when no task can run, or when the kernel cannot go on. It switches memory
/// management on, waits for interrupts and talks to the emulator, and no service leads to it.
const NOT_SERVICES: [&str; 8] = [
    "boot::reset",
    "boot::set_up",
    "boot::release",
    "rtos_start",
    "tcb::idle",
    "semihosting_call",
    "boot::fault",
    "__vectors",
];

/// Why an instruction belongs to the machinery for several processors, if it does.
fn reason(instruction: &Instruction) -> Option<&'static str> {
    let (operation, operands) = instruction.text.split_once(' ').unwrap_or((&instruction.text, ""));
    let operation = operation.trim_end_matches(".w").trim_end_matches(".n");
    let exclusive = ["ldrex", "strex", "ldaex", "stlex", "clrex"];
    if exclusive.iter().any(|&one| operation.starts_with(one)) {
        return Some("an exclusive access");
    }
    if ["lda", "ldab", "ldah", "stl", "stlb", "stlh"].contains(&operation) {
        return Some("an access with a barrier");
    }
    // The last two are the barriers of the coprocessor that came before the instructions.
    let old_barrier =
        operation == "mcr" && ["cr7, cr10, {4}", "cr7, cr10, {5}"].iter().any(|&one| operands.contains(one));
    if operation.starts_with("dmb") || operation.starts_with("dsb") || old_barrier {
        return Some("a barrier");
    }
    if operation == "sev" || operation == "wfe" {
        return Some("an event");
    }
    if operation == "mrc" && (operands.contains("cr13, cr0, {4}") || operands.contains("cr0, cr0, {5}")) {
        return Some("asks which processor this is");
    }
    None
}

/// Why an address belongs to that machinery.
fn register(platform: Platform, address: u32) -> Option<&'static str> {
    match (platform, address) {
        // CPU_IDENTITY; nothing else that is used lies near it.
        (Platform::M33, 0x5001_F000..=0x5001_FFFF) => Some("asks which processor this is"),
        // CPUID is the first register; from its address the compiler gets at all others.
        (Platform::Rp2040, 0xD000_0000..=0xD000_004F) => Some("asks which processor this is"),
        (Platform::Rp2040, 0xD000_0050..=0xD000_00FF) => Some("the FIFO between processors"),
        (Platform::Rp2040, 0xD000_0100..=0xD000_017F) => Some("a spin lock between processors"),
        _ => None,
    }
}

/// Whether an instruction leaves the register that it names first as it was.
fn writes_nothing(operation: &str) -> bool {
    let stores = ["st", "push", "cmp", "cmn", "tst", "teq", "msr", "mcr", "cb"];
    let branches = operation.starts_with('b') && !operation.starts_with("bi") && !operation.starts_with("bf");
    branches || stores.iter().any(|&one| operation.starts_with(one))
}

/// The constants that registers get in code that is read from its beginning to its end: from a `.word`, or computed from
/// small ones, as compilers do where that is shorter.
#[derive(Default)]
struct Constants(HashMap<String, u32>);

impl Constants {
    /// The constant that an instruction makes.
    fn made_by(&mut self, instruction: &Instruction) -> Option<u32> {
        let (operation, operands) = instruction.text.split_once(' ')?;
        let operands = operands.split_once('@').map_or(operands, |(operands, _)| operands);
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        let number = |text: &str| text.strip_prefix('#').and_then(|digits| digits.parse::<u32>().ok());
        let known = |text: &str| number(text).or_else(|| self.0.get(text).copied());
        if operation == ".word" {
            return u32::from_str_radix(operands[0].trim_start_matches("0x"), 16).ok();
        }
        let operation = operation.trim_end_matches(".w").trim_end_matches(".n");
        if writes_nothing(operation) {
            return None;
        }
        let value = match (operation, &operands[..]) {
            ("movs" | "mov" | "movw", [_, from]) => known(from),
            ("movt", [to, high]) => Some(number(high)? << 16 | self.0.get(*to).copied().unwrap_or(0) & 0xffff),
            ("lsls" | "lsl", [_, from, by]) => Some(known(from)?.wrapping_shl(number(by)?)),
            ("adds" | "add" | "orr" | "orrs", [to, more]) => Some(known(to)?.wrapping_add(known(more)?)),
            ("adds" | "add" | "orr" | "orrs", [_, from, more]) => Some(known(from)?.wrapping_add(known(more)?)),
            _ => None,
        };
        match value {
            Some(value) => self.0.insert(operands[0].to_string(), value),
            None => self.0.remove(operands[0]),
        };
        value
    }
}

/// The instructions of a program that belong to the machinery for several processors, outside the code that is no service.
fn machinery(platform: Platform, model: Model) -> Vec<String> {
    let image = image::build("scenarios", platform, model).unwrap();
    let code = Code::read(&image.path).unwrap();
    let services = code.functions(|name| !NOT_SERVICES.iter().any(|part| name.contains(part)));
    let services: HashSet<&str> = services.into_iter().collect();
    let mut found = Vec::new();
    let (mut constants, mut before) = (Constants::default(), "");
    for instruction in code.instructions().filter(|instruction| services.contains(instruction.function.as_str())) {
        let function = instruction.function.as_str();
        if function != before {
            (constants, before) = (Constants::default(), function);
        }
        // The way back from an interrupt, on the Cortex-A9.
        if instruction.text == "clrex" && function.contains("vectors::") {
            continue;
        }
        let address = constants.made_by(instruction);
        if let Some(reason) = reason(instruction).or_else(|| register(platform, address?)) {
            found.push(format!("{:08x} {} ({reason}) in {function}", instruction.address, instruction.text));
        }
    }
    found
}

#[test]
fn nothing_of_the_machinery_is_in_a_program_for_one_processor() {
    for platform in Platform::ALL {
        let found = machinery(platform, Model::Uni);
        assert!(found.is_empty(), "{platform}:\n{}", found.join("\n"));
    }
}

/// So that the test above can fail.
#[test]
fn all_of_it_is_found_in_a_program_for_two() {
    for platform in Platform::ALL {
        let found = machinery(platform, Model::Multi).join("\n");
        let kinds: &[&str] = match platform {
            Platform::M33 => &["an exclusive access", "an access with a barrier", "asks which processor this is"],
            Platform::A9 => &["an exclusive access", "a barrier", "asks which processor this is"],
            Platform::Rp2040 => {
                &["a spin lock between processors", "asks which processor this is", "the FIFO between processors"]
            }
        };
        for kind in kinds {
            assert!(found.contains(kind), "{platform} has no {kind}");
        }
    }
}

/// How many bytes the static variable takes in which the kernel keeps its processors.
fn size_of_the_processors(platform: Platform, model: Model) -> u32 {
    let image = image::build("scenarios", platform, model).unwrap();
    let symbols = Command::new("arm-none-eabi-nm").args(["--print-size", "--demangle=rust"]).arg(&image.path).output();
    let symbols = String::from_utf8(symbols.unwrap().stdout).unwrap();
    let line = symbols.lines().find(|line| line.ends_with("::KERNEL_PROCESSOR"));
    let size = line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or_else(|| panic!("{platform}:\n{symbols}"));
    u32::from_str_radix(size, 16).unwrap()
}

/// With one entry there is nothing to look up; and that one has no second agenda, of which the queues alone are 16 words.
#[test]
fn there_is_no_table_of_processors_in_a_program_for_one() {
    for platform in Platform::ALL {
        let [one, two] = [Model::Uni, Model::Multi].map(|model| size_of_the_processors(platform, model));
        assert!(one + 16 * 4 < two / 2, "{platform}: one processor takes {one} bytes, two take {two}");
    }
}

/// What is promised whatever the compiler: ASP3's figures, and less than FMP3's. And what docs/rtos.md says, which is of one
/// compiler: with that one, nothing costs more.
#[test]
fn services_cost_at_most_what_is_promised() {
    const COMPILER: &str = "1.95.";
    let promised = [
        (Platform::M33, Model::Uni, "act_switch", 98, 56),
        (Platform::A9, Model::Uni, "act_switch", 96, 52),
        (Platform::M33, Model::Uni, "act_switch_by_number", 98, 65),
        (Platform::A9, Model::Uni, "act_switch_by_number", 96, 63),
        (Platform::M33, Model::Multi, "act_switch", 130, 85),
        (Platform::A9, Model::Multi, "act_switch", 130, 81),
        (Platform::M33, Model::Multi, "act_switch_by_number", 130, 103),
        (Platform::A9, Model::Multi, "act_switch_by_number", 130, 105),
        (Platform::M33, Model::Multi, "act_pinned_switch", 117, 64),
        (Platform::A9, Model::Multi, "act_pinned_switch", 117, 58),
    ];
    let version = Command::new("rustc").arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let documented = version.starts_with(&format!("rustc {COMPILER}"));
    if !documented {
        not_run(&format!("the figures of docs/rtos.md, which are of rustc {COMPILER}*: this is {}", version.trim()));
    }
    let mut counted = HashMap::new();
    for (platform, model, service, most, figure) in promised {
        let figures = counted.entry((platform, model)).or_insert_with(|| count_in(platform, model).unwrap());
        let (takes, most) = (figures[service].instructions, if documented { figure } else { most });
        assert!(takes <= most, "{service} takes {takes} on {platform} {model}, and may take {most}");
    }
}

/// Tells who runs all tests what could not be looked at.
fn not_run(what: &str) {
    eprintln!("not run: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let mut list = std::fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "{what}").unwrap();
    }
}

/// What is left of the machinery without locks and without asking for the processor's number: the second agenda, and the
/// processor that each task names. For act_tsk with a switch the study says how much: less than what FMP3 has left, 1.18 of
/// what ASP3 takes.
#[test]
fn the_machinery_without_locks_and_numbers_costs_a_few_instructions() {
    for platform in Platform::ALL {
        let counts = |model| count_in(platform, model).unwrap();
        let (uni, multi, neither) = (counts(Model::Uni), counts(Model::Multi1), counts(Model::Neither));
        let [one, left] = [&uni, &neither].map(|figures| figures["act_switch"].instructions);
        assert!(left * 100 <= one * 118, "{platform} act_switch: {one} and {left}");
        for (name, one) in &uni {
            // What "remote" and "migrate" do on one processor is something else.
            if ["act_remote", "mig_tsk"].contains(&name.as_str()) {
                continue;
            }
            let (without, with) = (neither[name].instructions, multi[name].instructions);
            assert!(without <= one.instructions + 20, "{platform} {name}: {} and {without}", one.instructions);
            // With a pinned object there is no lock to leave out; the compiler may order the rest otherwise.
            let reordered = if name.contains("pinned") { 2 } else { 0 };
            assert!(without <= with + reordered, "{platform} {name}: {with} and {without}");
        }
    }
}

/// The ways in which the compilers write the address of a register.
#[test]
fn an_address_is_found_however_it_is_computed() {
    let listings: [&[&str]; 4] = [
        &["movs r0, #13", "str r0, [sp, #28]", "lsls r1, r0, #28", "ldr r1, [r1, #0]"],
        &["movw ip, #61440 @ 0xf000", "movt ip, #20481 @ 0x5001"],
        &["mov.w r3, #1342177280", "add.w r3, r3, #126976"],
        &[".word 0x5001f000"],
    ];
    for listing in listings {
        let mut constants = Constants::default();
        let instructions =
            listing.iter().map(|text| Instruction { address: 0, text: text.to_string(), function: String::new() });
        let values: Vec<u32> = instructions.filter_map(|instruction| constants.made_by(&instruction)).collect();
        let is_register =
            |&value| [Platform::M33, Platform::Rp2040].into_iter().any(|platform| register(platform, value).is_some());
        assert!(values.iter().any(is_register), "{listing:?}: {values:x?}");
    }
}
