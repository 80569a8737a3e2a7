//! The model of a checked configuration: objects, services, handlers.

use std::collections::{BTreeMap, BTreeSet};

use crate::fault::Place;
use crate::syntax::{Argument, Item};

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

impl Class {
    /// The first processor of the class, counted from 0.
    pub fn processor(self) -> usize {
        let (Class::All(processor) | Class::Only(processor) | Class::Pinned(processor)) = self;
        processor
    }
}

/// The action of a notification, when its time has come.
#[derive(Clone, Debug)]
pub enum Notify {
    /// Calls a function with its exinf.
    Handler(C, C),
    /// A statement of C.
    Statement(C),
}

/// The kind of an object, with its arguments.
#[derive(Clone, Debug)]
pub enum What {
    /// A task.
    Task { active: bool, queues: bool, restricted: bool, priority: i64, stack: i64, entry: C, exinf: C },
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
    MemoryPool { by_priority: bool, blocks: i64, size: i64, within: Option<C> },
    /// A cyclic notification.
    Cyclic { started: bool, period: i64, phase: i64, notify: Notify },
    /// An alarm notification.
    Alarm { notify: Notify },
    /// A spin lock.
    SpinLock,
}

/// The kinds in the order of the sections of `kernel!`, with the C constant for the number of their objects.
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
    /// Memory that the application names for the kernel's own use, which the kernel does not need.
    pub unused: Option<C>,
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
    /// TA_EDGE.
    pub edge: bool,
    /// Which processor serves it, counted from 0.
    pub processor: usize,
    /// Services of one line are called in the order of this.
    pub rank: i64,
    /// The function, and its argument, if it takes one.
    pub handler: C,
    pub exinf: Option<C>,
}

/// A handler that the kernel calls by itself: of CPU exceptions, or of overruns.
#[derive(Clone, Debug)]
pub struct Handler {
    /// The function.
    pub function: C,
    /// Which exception it is for.
    pub exception: i64,
    /// On which processor, if not on all, counted from 0.
    pub processor: Option<usize>,
}

/// A routine of ATT_INI or ATT_TER.
#[derive(Clone, Debug)]
pub struct Routine {
    /// The function, and its argument.
    pub function: C,
    pub exinf: C,
    /// On which processor, counted from 0, if it stands in a class; the others run on the first, before those at the
    /// beginning and after them at the end.
    pub processor: Option<usize>,
}

/// A checked configuration.
#[derive(Debug, Default)]
pub struct Config {
    /// The objects of all kinds, in their order.
    pub objects: Vec<Object>,
    /// The interrupt services.
    pub services: Vec<Service>,
    /// The handlers of CPU exceptions.
    pub exceptions: Vec<Handler>,
    /// The priorities within which tasks are in the order of their sub-priorities.
    pub sub_priorities: BTreeSet<i64>,
    /// The overrun handler.
    pub overrun: Option<C>,
    /// The routines before the first task, and at the kernel's end, in this order.
    pub initial: Vec<Routine>,
    pub terminal: Vec<Routine>,
}

impl Config {
    /// The objects of one kind, in the order of their numbers.
    pub fn of<'a>(&'a self, api: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects.iter().filter(move |object| object.api == api)
    }
}

impl Config {
    /// The functions of the application that the configuration names.
    pub fn functions(&self) -> impl Iterator<Item = &C> {
        let of_objects = self.objects.iter().filter_map(|object| match &object.what {
            What::Task { entry, .. } => Some(entry),
            What::Cyclic { notify: Notify::Handler(function, _), .. }
            | What::Alarm { notify: Notify::Handler(function, _) } => Some(function),
            _ => None,
        });
        let of_routines = self.initial.iter().chain(&self.terminal).map(|routine| &routine.function);
        let of_handlers = self.exceptions.iter().map(|handler| &handler.function).chain(&self.overrun);
        of_objects.chain(of_routines).chain(of_handlers).chain(self.services.iter().map(|service| &service.handler))
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

/// The words of C, which are no names.
const WORDS: &str = "auto break case char const continue default do double else enum extern float for goto if inline int \
    long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm";

/// Whether it is a name in C.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !WORDS.split_whitespace().any(|word| word == text)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
