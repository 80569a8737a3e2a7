//! `init`: the first process of an image. It is started by the kernel, and does what `/etc/init.plan` says.

use std::fs;
use std::process::ExitCode;

use init::{Ending, Kernel, PATH, Plan, System, run};

fn main() -> ExitCode {
    let mut kernel = Kernel::new();
    if std::process::id() != 1 {
        eprintln!("init is the first process of an image, and started by the kernel");
        return ExitCode::from(2);
    }
    let plan = fs::read_to_string(PATH).map_err(|e| e.to_string());
    match plan.and_then(|text| Plan::parse(&text).map_err(|e| e.to_string())) {
        Ok(plan) => match run(&plan, &mut kernel) {
            Ending::Status(status) => kernel.say(&format!("the program ended with status {status}")),
            Ending::Signal(signal) => kernel.say(&format!("the program was ended by signal {signal}")),
            Ending::None => kernel.say("no program has run"),
        },
        Err(why) => kernel.say(&format!("{PATH}: {why}")),
    }
    let error = kernel.end();
    kernel.say(&format!("the machine cannot be switched off: {error}"));
    loop {
        std::thread::park();
    }
}
