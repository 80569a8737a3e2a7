//! The Rust code of a configuration: its kernel.

use std::fmt::Write;

use inspect::Platform;

use crate::model::{Class, Config, KINDS, Object, What};
use crate::target::Target;

/// `main.rs` of the program.
pub fn program(config: &Config, target: Target) -> String {
    let (port_crate, ..) = target.port_crate();
    let host = target.platform.is_none();
    let mut text = String::from("//! Made by rtos-cfg.\n");
    if !host {
        text += "#![no_std]\n#![no_main]\n";
    }
    text += "#![allow(unused_imports, non_upper_case_globals)]\n\n";
    let model =
        if target.processors == 1 { "rtos::Uni".to_string() } else { format!("rtos::Multi<{}>", target.processors) };
    text += &format!(
        "use rtos::{{Handler, Pinned, Shared, TaskSetup}};\n\ntype Port = {};\ntype Model = {model};\n\n",
        target.port()
    );
    text += &format!(
        "const _: () = assert!(\n    <Port as rtos::Port>::MINIMUM_STACK == {} && <Port as rtos::Port>::LOWEST_INTERRUPT_MASK == {},\n    \"rtos-cfg and the port do not agree\"\n);\n\n",
        target.minimum_stack(),
        target.highest_interrupt()
    );
    text += &externals(config);
    let restricted = config.objects.iter().any(|object| matches!(object.what, What::Task { restricted: true, .. }));
    let restricted = if restricted { ", Restricted = rtos::With" } else { "" };
    let _ = writeln!(text, "rtos::kernel! {{\n    pub struct App: Kernel<Port = Port, Model = Model{restricted}>;");
    for (section, api, _) in KINDS {
        let objects: Vec<&Object> = config.of(api).collect();
        if objects.is_empty() {
            continue;
        }
        let _ = writeln!(text, "    {section} {{");
        for object in objects {
            let _ = writeln!(text, "        // {}", object.place);
            let _ = writeln!(text, "        object_{}: {} = {};", object.name, domain(object.class), setup(object));
        }
        text += "    }\n";
    }
    if !config.services.is_empty() {
        text += "    interrupts {\n";
        for (number, service) in config.services.iter().enumerate() {
            // SAFETY in the text: the C function is for this.
            let handler = format!("unsafe {{ Handler::foreign(kernel_service_{number}, core::ptr::null_mut()) }}");
            let enabled = if service.enabled { ".enabled()" } else { "" };
            let edge = if service.edge { ".edge()" } else { "" };
            let _ = writeln!(
                text,
                "        rtos::Interrupt::create({}, {handler}).priority({}).on({}){enabled}{edge};",
                service.line, service.priority, service.processor
            );
        }
        text += "    }\n";
    }
    if !config.exceptions.is_empty() {
        text += "    exceptions {\n";
        for (number, handler) in config.exceptions.iter().enumerate() {
            let on = handler.processor.map_or(String::new(), |processor| format!(".on({processor})"));
            // SAFETY in the text: the C function is for this.
            let made =
                format!("unsafe {{ rtos::Exception::foreign({}, kernel_exception_{number}) }}", handler.exception);
            let _ = writeln!(text, "        {made}{on};");
        }
        text += "    }\n";
    }
    if config.overrun.is_some() {
        // SAFETY in the text: as above.
        text += "    overrun unsafe { rtos::OverrunHandler::foreign(kernel_overrun) };\n";
    }
    if !config.sub_priorities.is_empty() {
        let _ = writeln!(text, "    sub_priorities {:?};", Vec::from_iter(&config.sub_priorities));
    }
    text += "    initialise || unsafe { kernel_initialise() };\n";
    text += "    initialise_each |here| unsafe { kernel_initialise_each(here as i32) };\n";
    text += "    terminate_each |here| unsafe { kernel_terminate_each(here as i32) };\n";
    text += "    terminate || unsafe { kernel_terminate() };\n}\n\n";
    text += "rtos_c::c_interface!(App);\n\n";
    text += "/// Prints bytes for the application.\n#[unsafe(no_mangle)]\nunsafe extern \"C\" fn kernel_print(bytes: *const u8, length: usize) {\n    // SAFETY: C has given the place and its length.\n    let bytes = unsafe { core::slice::from_raw_parts(bytes, length) };\n";
    let terminal = if host { "rtos_host".to_string() } else { format!("{port_crate}::terminal") };
    // Two processors share the RP2040's UART; the others' words go out in one call of the emulator.
    let alone = if target.platform == Some(Platform::Rp2040) && target.processors > 1 { "_alone" } else { "" };
    let _ = writeln!(text, "    {terminal}::write{alone}(bytes);\n}}\n");
    text += "/// Reads what the user has typed.\n#[unsafe(no_mangle)]\nunsafe extern \"C\" fn kernel_read(to: *mut u8, length: u32) -> u32 {\n";
    text += if host {
        "    // SAFETY: C has given the place and its length.\n    rtos_host::read(unsafe { core::slice::from_raw_parts_mut(to, length as usize) }) as u32\n}\n\n"
    } else {
        "    let _ = (to, length);\n    0\n}\n\n"
    };
    if host {
        text += "fn main() {\n    rtos_host::run::<App>()\n}\n";
    } else {
        let _ = writeln!(text, "{port_crate}::image!(App);\n");
        let _ = writeln!(
            text,
            "#[panic_handler]\nfn panic(info: &core::panic::PanicInfo<'_>) -> ! {{\n    {terminal}::print(format_args!(\"{{info}}\\n\"));\n    {port_crate}::terminal::exit(1)\n}}"
        );
    }
    text
}

fn externals(config: &Config) -> String {
    let mut text = String::from("unsafe extern \"C\" {\n");
    for name in ["kernel_initialise", "kernel_terminate"] {
        let _ = writeln!(text, "    fn {name}();\n    fn {name}_each(here: i32);");
    }
    for object in &config.objects {
        match &object.what {
            What::Task { .. } => {
                let _ = writeln!(text, "    static kernel_exinf_{}: isize;", object.name);
                let _ = writeln!(text, "    fn kernel_start_{}(exinf: *mut ());", object.name);
            }
            What::MemoryPool { within: Some(memory), .. } => {
                let _ = writeln!(text, "    static {}: [u64; 0];", memory.text);
            }
            What::Cyclic { .. } | What::Alarm { .. } => {
                let _ = writeln!(text, "    fn kernel_notify_{}(unused: *mut core::ffi::c_void);", object.name);
            }
            _ => {}
        }
    }
    for number in 0..config.services.len() {
        let _ = writeln!(text, "    fn kernel_service_{number}(unused: *mut core::ffi::c_void);");
    }
    for number in 0..config.exceptions.len() {
        let _ = writeln!(text, "    fn kernel_exception_{number}(raised: *mut core::ffi::c_void);");
    }
    if config.overrun.is_some() {
        text += "    fn kernel_overrun(task: i32, exinf: *mut core::ffi::c_void);\n";
    }
    text + "}\n\n"
}

fn domain(class: Class) -> String {
    match class {
        Class::Pinned(place) => format!("Pinned<{place}>"),
        Class::All(_) | Class::Only(_) => "Shared".to_string(),
    }
}

/// The code that gives the processors of a task or a notification.
fn placed(class: Class) -> String {
    match class {
        Class::All(0) | Class::Pinned(_) => String::new(),
        Class::All(place) => format!(".on({place})"),
        Class::Only(place) => format!(".only_on({:#b})", 1u32 << place),
    }
}

fn setup(object: &Object) -> String {
    let flag = |on: bool, text: &'static str| if on { text } else { "" };
    let domain = domain(object.class);
    let name = &object.name;
    let handler = format!("unsafe {{ Handler::foreign(kernel_notify_{name}, core::ptr::null_mut()) }}");
    match &object.what {
        What::Task { active, queues, restricted, priority, stack, .. } => format!(
            "TaskSetup::foreign(kernel_start_{name}, (&raw const kernel_exinf_{name}) as *mut ()).priority({priority}).stack({stack}){}{}{}{}",
            placed(object.class),
            flag(*active, ".active()"),
            flag(!queues, ".no_queue()"),
            flag(*restricted, ".restricted()"),
        ),
        What::Semaphore { by_priority, initial, most } => {
            format!("Semaphore::create({initial}, {most}){}", flag(*by_priority, ".by_priority()"))
        }
        What::EventFlag { by_priority, many, clearing, initial } => format!(
            "EventFlag::create({initial}){}{}{}",
            flag(*by_priority, ".by_priority()"),
            flag(*many, ".many()"),
            flag(*clearing, ".clearing()"),
        ),
        What::DataQueue { by_priority, words } => {
            format!("DataQueue::create({words}){}", flag(*by_priority, ".by_priority()"))
        }
        What::PriorityDataQueue { by_priority, words, lowest } => {
            format!("PriorityDataQueue::create({words}, {lowest}){}", flag(*by_priority, ".by_priority()"))
        }
        What::Mutex { by_priority, ceiling, inheriting } => format!(
            "Mutex::create(){}{}{}",
            flag(*by_priority, ".by_priority()"),
            ceiling.map_or(String::new(), |ceiling| format!(".ceiling({ceiling})")),
            flag(*inheriting, ".inheriting()"),
        ),
        What::MessageBuffer { by_priority, longest, size } => {
            format!("MessageBuffer::create({longest}, {size}){}", flag(*by_priority, ".by_priority()"))
        }
        What::MemoryPool { by_priority, blocks, size, within } => {
            // SAFETY in the text: the application has named the memory for this, and C has checked its size.
            let within = within.as_ref().map_or(String::new(), |memory| {
                format!(".within(unsafe {{ (&raw const {}).cast_mut().cast() }})", memory.text)
            });
            let made = format!("MemoryPool::create({blocks}, {size}){}{within}", flag(*by_priority, ".by_priority()"));
            if within.is_empty() { made } else { format!("unsafe {{ {made} }}") }
        }
        What::Cyclic { started, period, phase, .. } => format!(
            "rtos::CyclicBlock::foreign::<{domain}>({period}, {handler}).phase({phase}){}{}",
            placed(object.class),
            flag(*started, ".started()"),
        ),
        What::Alarm { .. } => format!("rtos::AlarmBlock::foreign::<{domain}>({handler}){}", placed(object.class)),
        What::SpinLock => "SpinLock::create()".to_string(),
    }
}
