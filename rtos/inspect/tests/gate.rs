//! What a program for one processor must not hold, and what services may cost.

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
    "setup::idle",
    "semihosting_call",
    "fault",
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
    if operation.starts_with("dmb") || operation.starts_with("dsb") || operation == "sev" || operation == "wfe" {
        return Some("a barrier or an event");
    }
    if operation == "mrc" && (operands.contains("cr13, cr0, {4}") || operands.contains("cr0, cr0, {5}")) {
        return Some("reads which processor this is");
    }
    None
}

/// The addresses of registers that belong to that machinery, as they stand in a program: in a `.word` that is loaded, or
/// as the upper half that a `movt` puts before a lower one.
fn names_a_register(instruction: &Instruction) -> Option<&'static str> {
    let text = &instruction.text;
    // 0x5001F000, CPU_IDENTITY; nothing else that is used begins so.
    if text.starts_with("movt") && text.contains("#20481") {
        return Some("asks which processor this is");
    }
    if text.starts_with(".word")
        && ["0xd0000000", "0xd0000100", "0xd0000104", "0xd0000050"].iter().any(|a| text.contains(a))
    {
        return Some("a register of the SIO block");
    }
    None
}

/// The instructions of a program that belong to the machinery for several processors, outside the code that is no service.
fn machinery(platform: Platform, model: Model) -> Vec<String> {
    let image = image::build("scenarios", platform, model).unwrap();
    let code = Code::read(&image.path).unwrap();
    let services = code.functions(|name| !NOT_SERVICES.iter().any(|part| name.contains(part)));
    let mut found = Vec::new();
    for function in services {
        for instruction in code.of(function) {
            // The way back from an interrupt, on the Cortex-A9.
            if instruction.text == "clrex" && function.contains("vectors::") {
                continue;
            }
            if let Some(reason) = reason(instruction).or_else(|| names_a_register(instruction)) {
                found.push(format!("{:08x} {} ({reason}) in {function}", instruction.address, instruction.text));
            }
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
            Platform::M33 => &["an exclusive access", "an access with a barrier", "which processor"],
            Platform::A9 => &["an exclusive access", "a barrier", "which processor"],
            Platform::Rp2040 => &["a register of the SIO block"],
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

/// What ASP3 takes, and less than what FMP3 does. The figures in the README are lower; they are those of one compiler, and
/// another makes other code.
#[test]
fn services_cost_at_most_what_is_promised() {
    let promised = [
        (Platform::M33, Model::Uni, "act_switch", 98),
        (Platform::A9, Model::Uni, "act_switch", 96),
        (Platform::M33, Model::Uni, "act_switch_by_number", 98),
        (Platform::A9, Model::Uni, "act_switch_by_number", 96),
        (Platform::M33, Model::Multi, "act_switch", 130),
        (Platform::M33, Model::Multi, "act_switch_by_number", 130),
        (Platform::M33, Model::Multi, "act_pinned_switch", 117),
    ];
    for (platform, model, service, most) in promised {
        let figures = count_in(platform, model).unwrap();
        let figure = figures[service];
        assert!(figure.instructions <= most, "{service} takes {} on {platform} {model}", figure.instructions);
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
