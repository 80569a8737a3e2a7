//! The objects of a configuration, checked.

use std::collections::BTreeMap;

use crate::parse::{Argument, Item, Statement};
use crate::target::Target;
use crate::values::{self, Values, expressions, is_present};
use crate::{Fault, Place};

/// Text of C, and where it stands.
#[derive(Clone, Debug)]
pub struct C {
    /// The text.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// Where an object lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// On any processor, at first on that one, counted from 0.
    All(usize),
    /// On that processor, but every processor may use it.
    Only(usize),
    /// On that processor, and only that may use it.
    Pinned(usize),
}

/// A notification: what happens when a time has come.
#[derive(Clone, Debug)]
pub enum Notify {
    /// Calls a function with its exinf.
    Handler(C, C),
    /// A statement of C.
    Statement(C),
}

/// What an object is.
#[derive(Clone, Debug)]
pub enum What {
    /// A task.
    Task { active: bool, queues: bool, priority: i64, stack: i64, entry: C, exinf: C },
    /// A semaphore.
    Semaphore { by_priority: bool, initial: i64, most: i64 },
    /// An event flag.
    EventFlag { by_priority: bool, many: bool, clearing: bool, initial: i64 },
    /// A data queue.
    DataQueue { by_priority: bool, words: i64 },
    /// A priority data queue.
    PriorityDataQueue { by_priority: bool, words: i64, lowest: i64 },
    /// A mutex.
    Mutex { by_priority: bool, ceiling: Option<i64>, inheriting: bool },
    /// A message buffer.
    MessageBuffer { by_priority: bool, longest: i64, size: i64 },
    /// A memory pool.
    MemoryPool { by_priority: bool, blocks: i64, size: i64 },
    /// A cyclic notification.
    Cyclic { started: bool, period: i64, phase: i64, notify: Notify },
    /// An alarm notification.
    Alarm { notify: Notify },
    /// A spin lock.
    SpinLock,
}

/// The kinds in the order of the sections of `kernel!`, with the word that their number of objects has in C.
pub const KINDS: [(&str, &str, &str); 11] = [
    ("tasks", "CRE_TSK", "TNUM_TSKID"),
    ("semaphores", "CRE_SEM", "TNUM_SEMID"),
    ("event_flags", "CRE_FLG", "TNUM_FLGID"),
    ("data_queues", "CRE_DTQ", "TNUM_DTQID"),
    ("priority_data_queues", "CRE_PDQ", "TNUM_PDQID"),
    ("mutexes", "CRE_MTX", "TNUM_MTXID"),
    ("message_buffers", "CRE_MBF", "TNUM_MBFID"),
    ("memory_pools", "CRE_MPF", "TNUM_MPFID"),
    ("cyclics", "CRE_CYC", "TNUM_CYCID"),
    ("alarms", "CRE_ALM", "TNUM_ALMID"),
    ("spin_locks", "CRE_SPN", "TNUM_SPNID"),
];

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub class: Class,
    /// What it is.
    pub what: What,
    /// Which statement made it.
    pub api: String,
    /// Where that is.
    pub place: Place,
}

/// An interrupt service.
#[derive(Clone, Debug)]
pub struct Service {
    /// Its line, and the priority of that.
    pub line: i64,
    pub priority: i64,
    /// Whether the line is let through from the start.
    pub enabled: bool,
    /// Which processor serves it, counted from 0.
    pub processor: usize,
    /// What is called.
    pub handler: C,
    pub exinf: C,
}

/// A checked configuration.
#[derive(Debug, Default)]
pub struct Config {
    /// The objects of all kinds, in their order.
    pub objects: Vec<Object>,
    /// The interrupt services.
    pub services: Vec<Service>,
    /// What runs before the first task, and when the kernel ends: function and exinf.
    pub initial: Vec<(C, C)>,
    pub terminal: Vec<(C, C)>,
}

impl Config {
    /// The objects of one kind, in the order of their numbers.
    pub fn of<'a>(&'a self, api: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects.iter().filter(move |object| object.api == api)
    }
}

/// Which expressions of a statement are numbers, by its name and how many it has in all.
pub fn is_number(name: &str, index: usize, count: usize) -> bool {
    match name {
        "CRE_TSK" => [1, 4, 5].contains(&index),
        "CRE_SEM" => (1..=3).contains(&index),
        "CRE_FLG" | "CRE_MTX" | "CFG_INT" => index <= 2 && (index > 0 || name == "CFG_INT"),
        "CRE_DTQ" => [1, 2].contains(&index),
        "CRE_PDQ" | "CRE_MBF" | "CRE_MPF" => (1..=3).contains(&index),
        "CRE_SPN" | "CRE_ALM" => index == 1,
        "CRE_CYC" => index == 1 || index + 2 >= count,
        "CRE_ISR" => [1, 3, 5].contains(&index),
        "ATT_INI" | "ATT_TER" => index == 0,
        _ => false,
    }
}

/// The names of the objects, by kind, in their order: what `kernel_cfg.h` needs before anything is computed.
pub fn names(items: &[Item], present: impl Fn(usize) -> bool) -> BTreeMap<&'static str, Vec<String>> {
    let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (number, item) in items.iter().enumerate() {
        if let Item::Statement(statement) = item
            && let Some((_, api, _)) = KINDS.iter().find(|(_, api, _)| *api == statement.name)
            && let Some(Argument::Text(name, _)) = statement.arguments.first()
            && present(number)
            && is_name(name)
        {
            names.entry(api).or_default().push(name.clone());
        }
    }
    names
}

/// Whether C takes it for a name.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Checks the statements that the preprocessor has left in.
pub fn check(items: &[Item], values: &Values, target: Target) -> Result<Config, Vec<Fault>> {
    let mut checker = Checker { target, values, config: Config::default(), lines: BTreeMap::new(), faults: Vec::new() };
    let statements = items.iter().enumerate().filter_map(|(number, item)| match item {
        Item::Statement(statement) if is_present(values, number) => Some((number, statement)),
        _ => None,
    });
    let statements: Vec<_> = statements.collect();
    // Lines first: a service may stand before the line that it is for.
    for pass in [true, false] {
        for &(number, statement) in &statements {
            if (statement.name == "CFG_INT") == pass
                && let Err(fault) = checker.statement(number, statement)
            {
                checker.faults.push(fault);
            }
        }
    }
    if checker.faults.is_empty() { Ok(checker.config) } else { Err(checker.faults) }
}

struct Checker<'a> {
    target: Target,
    values: &'a Values,
    config: Config,
    /// The lines that CFG_INT has told of: attribute, priority, class, place.
    lines: BTreeMap<i64, (i64, i64, Class, Place)>,
    faults: Vec<Fault>,
}

/// A statement's expressions and their values.
struct Given<'a> {
    statement: &'a Statement,
    all: Vec<&'a Argument>,
    values: Vec<Option<i64>>,
}

impl Given<'_> {
    fn place(&self, index: usize) -> &Place {
        self.all.get(index).map_or(&self.statement.place, |argument| argument.place())
    }

    fn number(&self, index: usize, what: &str, least: i64, most: i64) -> Result<i64, Fault> {
        let value = self.values.get(index).copied().flatten();
        let value = value.ok_or_else(|| Fault::new(&self.statement.place, format!("{what} is missing")))?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Fault::new(self.place(index), format!("{what} is {value}, and must be from {least} to {most} (E_PAR)")))
    }

    /// An attribute: a sum of these bits.
    fn attribute(&self, index: usize, bits: i64) -> Result<i64, Fault> {
        let value = self.number(index, "the attribute", i64::MIN, i64::MAX)?;
        if value & !bits == 0 {
            return Ok(value);
        }
        Err(Fault::new(
            self.place(index),
            format!("the attribute {value:#x} has bits that mean nothing here (E_RSATR)"),
        ))
    }

    fn c(&self, index: usize) -> Result<C, Fault> {
        match self.all.get(index) {
            Some(Argument::Text(text, place)) => Ok(C { text: text.clone(), place: place.clone() }),
            _ => Err(Fault::new(&self.statement.place, format!("{} has too few arguments", self.statement.name))),
        }
    }

    /// Memory of the application's own is not used; the kernel has its own.
    fn no_memory(&self, index: usize, what: &str) -> Result<(), Fault> {
        match self.all.get(index) {
            Some(Argument::Text(text, place)) if text != "NULL" => {
                Err(Fault::new(place, format!("{what} must be NULL: the kernel makes the memory itself (E_NOSPT)")))
            }
            _ => Ok(()),
        }
    }
}

const ANY: i64 = u32::MAX as i64;
const LONGEST: i64 = 4_000_000_000;

impl Checker<'_> {
    fn statement(&mut self, number: usize, statement: &Statement) -> Result<(), Fault> {
        let all = expressions(&statement.arguments);
        let value = |index| self.values.get(&(number, index)).copied();
        let given = Given { statement, values: (0..all.len()).map(value).collect(), all };
        let class = self.class(statement)?;
        match statement.name.as_str() {
            "CFG_INT" => return self.line(&given, class),
            "CRE_ISR" => return self.service(&given),
            "ATT_INI" | "ATT_TER" => {
                given.attribute(0, 0)?;
                let routine = (given.c(2)?, given.c(1)?);
                if statement.name == "ATT_INI" {
                    self.config.initial.push(routine);
                } else {
                    self.config.terminal.insert(0, routine);
                }
                return Ok(());
            }
            _ => {}
        }
        let what = self.what(&given)?;
        let name = given.c(0)?;
        if !is_name(&name.text) {
            return Err(Fault::new(&name.place, format!("'{}' is not a name", name.text)));
        }
        if let Some(other) = self.config.objects.iter().find(|object| object.name == name.text) {
            let what = format!("there is a '{}' already, at {} (E_OBJ)", name.text, other.place);
            return Err(Fault::new(&name.place, what));
        }
        let (api, place) = (statement.name.clone(), statement.place.clone());
        self.config.objects.push(Object { name: name.text, class, what, api, place });
        Ok(())
    }

    /// The class that a statement stands in: CLS_PRCn, CLS_ALL_PRCn, or of this kernel alone CLS_PIN_PRCn.
    fn class(&self, statement: &Statement) -> Result<Class, Fault> {
        let Some((name, place)) = &statement.class else { return Ok(Class::All(0)) };
        let (make, number): (fn(usize) -> Class, &str) = if let Some(rest) = name.strip_prefix("CLS_ALL_PRC") {
            (Class::All, rest)
        } else if let Some(rest) = name.strip_prefix("CLS_PIN_PRC") {
            (Class::Pinned, rest)
        } else if let Some(rest) = name.strip_prefix("CLS_PRC") {
            (Class::Only, rest)
        } else {
            let known = "CLS_PRCn, CLS_ALL_PRCn and CLS_PIN_PRCn";
            return Err(Fault::new(place, format!("there is no class '{name}'; there are {known} (E_RSATR)")));
        };
        match number.parse::<usize>() {
            Ok(number) if (1..=self.target.processors).contains(&number) => Ok(make(number - 1)),
            _ => {
                let processors = self.target.processors;
                Err(Fault::new(place, format!("'{name}' names a processor; the target has {processors} (E_RSATR)")))
            }
        }
    }

    fn what(&self, given: &Given<'_>) -> Result<What, Fault> {
        let by_priority = |attribute: i64| attribute & 1 != 0;
        Ok(match given.statement.name.as_str() {
            "CRE_TSK" => {
                let attribute = given.attribute(1, 0x03)?;
                given.no_memory(6, "the stack")?;
                let least = self.target.minimum_stack() as i64;
                let stack = given.number(5, "the size of the stack", i64::MIN, 1 << 30)?;
                if stack < least {
                    let what = format!("the stack has {stack} bytes, and this target needs at least {least} (E_PAR)");
                    return Err(Fault::new(given.place(5), what));
                }
                What::Task {
                    active: attribute & 1 != 0,
                    queues: attribute & 2 == 0,
                    priority: given.number(4, "the priority", 1, 16)?,
                    stack,
                    entry: given.c(3)?,
                    exinf: given.c(2)?,
                }
            }
            "CRE_SEM" => {
                let most = given.number(3, "the most resources", 1, ANY)?;
                What::Semaphore {
                    by_priority: by_priority(given.attribute(1, 1)?),
                    initial: given.number(2, "the number of resources", 0, most)?,
                    most,
                }
            }
            "CRE_FLG" => {
                let attribute = given.attribute(1, 7)?;
                let initial = given.number(2, "the pattern", i64::MIN, i64::MAX)? & ANY;
                What::EventFlag {
                    by_priority: by_priority(attribute),
                    many: attribute & 2 != 0,
                    clearing: attribute & 4 != 0,
                    initial,
                }
            }
            "CRE_DTQ" => {
                given.no_memory(3, "the memory")?;
                let words = given.number(2, "the number of words", 0, 1 << 24)?;
                What::DataQueue { by_priority: by_priority(given.attribute(1, 1)?), words }
            }
            "CRE_PDQ" => {
                given.no_memory(4, "the memory")?;
                What::PriorityDataQueue {
                    by_priority: by_priority(given.attribute(1, 1)?),
                    words: given.number(2, "the number of words", 0, 1 << 24)?,
                    lowest: given.number(3, "the lowest priority", 1, 16)?,
                }
            }
            "CRE_MTX" => {
                let attribute = given.attribute(1, 3)?;
                let ceiling = if attribute == 3 { Some(given.number(2, "the ceiling", 1, 16)?) } else { None };
                What::Mutex { by_priority: attribute != 0, ceiling, inheriting: attribute == 2 }
            }
            "CRE_MBF" => {
                given.no_memory(4, "the memory")?;
                What::MessageBuffer {
                    by_priority: by_priority(given.attribute(1, 1)?),
                    longest: given.number(2, "the longest message", 1, 1 << 24)?,
                    size: (given.number(3, "the size", 0, 1 << 24)? + 3) & !3,
                }
            }
            "CRE_MPF" => {
                given.no_memory(4, "the memory")?;
                given.no_memory(5, "the memory")?;
                What::MemoryPool {
                    by_priority: by_priority(given.attribute(1, 1)?),
                    blocks: given.number(2, "the number of blocks", 1, 1 << 24)?,
                    size: given.number(3, "the size of a block", 1, 1 << 24)?,
                }
            }
            "CRE_SPN" => {
                given.attribute(1, 0)?;
                What::SpinLock
            }
            "CRE_CYC" => {
                let (last, attribute) = (given.all.len().saturating_sub(1), given.attribute(1, 2)?);
                What::Cyclic {
                    started: attribute & 2 != 0,
                    notify: self.notify(given)?,
                    period: given.number(last.saturating_sub(1), "the period", 1, LONGEST)?,
                    phase: given.number(last, "the phase", 0, LONGEST)?,
                }
            }
            "CRE_ALM" => {
                given.attribute(1, 0)?;
                What::Alarm { notify: self.notify(given)? }
            }
            other => {
                return Err(Fault::new(&given.statement.place, format!("there is no static API '{other}' (E_RSFN)")));
            }
        })
    }

    /// `{ TNFY_HANDLER, exinf, function }` and the others.
    fn notify(&self, given: &Given<'_>) -> Result<Notify, Fault> {
        let wrong = |what: &str| Fault::new(&given.statement.place, what.to_string());
        let Some(Argument::Packet(packet, _)) = given.statement.arguments.get(1) else {
            return Err(wrong("a packet in braces is missing"));
        };
        let Some(Argument::Packet(notify, place)) = packet.get(1) else {
            return Err(wrong("the notification is missing: a packet in braces after the attribute"));
        };
        let c: Vec<C> = notify
            .iter()
            .filter_map(|argument| match argument {
                Argument::Text(text, place) => Some(C { text: text.clone(), place: place.clone() }),
                Argument::Packet(..) => None,
            })
            .collect();
        let texts: Vec<&str> = c.iter().map(|c| c.text.as_str()).collect();
        let statement = |text: String| Ok(Notify::Statement(C { text, place: place.clone() }));
        match texts[..] {
            ["TNFY_HANDLER", _, _] => Ok(Notify::Handler(c[2].clone(), c[1].clone())),
            ["TNFY_SETVAR", variable, value] => statement(format!("*({variable}) = (intptr_t)({value})")),
            ["TNFY_INCVAR", variable] => statement(format!("*({variable}) += 1")),
            ["TNFY_ACTTSK", task] => statement(format!("(void)act_tsk({task})")),
            ["TNFY_WUPTSK", task] => statement(format!("(void)wup_tsk({task})")),
            ["TNFY_SIGSEM", semaphore] => statement(format!("(void)sig_sem({semaphore})")),
            ["TNFY_SETFLG", flag, bits] => statement(format!("(void)set_flg({flag}, {bits})")),
            ["TNFY_SNDDTQ", queue, word] => statement(format!("(void)psnd_dtq({queue}, (intptr_t)({word}))")),
            [mode, ..] if mode.contains("TENFY") => {
                Err(Fault::new(place, "notifications of errors are not supported (E_NOSPT)"))
            }
            _ => Err(Fault::new(place, format!("there is no notification '{}' (E_PAR)", texts.join(", ")))),
        }
    }

    fn line(&mut self, given: &Given<'_>, class: Class) -> Result<(), Fault> {
        let line = given.number(0, "the line", 0, 1 << 16)?;
        let attribute = given.attribute(1, 3)?;
        let priority = given.number(2, "the priority of the interrupt", self.target.highest_interrupt(), -1)?;
        if let Some((.., place)) = self.lines.get(&line) {
            let what = format!("line {line} is configured already, at {place} (E_OBJ)");
            return Err(Fault::new(given.place(0), what));
        }
        self.lines.insert(line, (attribute, priority, class, given.statement.place.clone()));
        Ok(())
    }

    fn service(&mut self, given: &Given<'_>) -> Result<(), Fault> {
        given.attribute(1, 0)?;
        let line = given.number(3, "the line", 0, 1 << 16)?;
        let Some(&(attribute, priority, class, _)) = self.lines.get(&line) else {
            return Err(Fault::new(given.place(3), format!("line {line} has no CFG_INT (E_OBJ)")));
        };
        let (Class::All(processor) | Class::Only(processor) | Class::Pinned(processor)) = class;
        let (handler, exinf) = (given.c(4)?, given.c(2)?);
        self.config.services.push(Service { line, priority, enabled: attribute & 1 != 0, processor, handler, exinf });
        Ok(())
    }
}

/// Computes the numbers of a configuration and checks it.
pub fn compute(
    items: &[Item],
    target: Target,
    include: &[&std::path::Path],
    folder: &std::path::Path,
) -> anyhow::Result<(Values, Result<Config, Vec<Fault>>)> {
    let counts: Vec<usize> = items
        .iter()
        .map(|item| if let Item::Statement(statement) = item { expressions(&statement.arguments).len() } else { 0 })
        .collect();
    let values = values::compute(
        items,
        |statement, name, index| is_number(name, index, counts[statement]),
        target,
        include,
        folder,
    )?;
    let config = check(items, &values, target);
    Ok((values, config))
}
