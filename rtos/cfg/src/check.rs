//! Checks of the statements of a configuration, one statement after the other.

use std::collections::BTreeMap;

use crate::fault::{Fault, Place};
use crate::given::{ANY, Given, LONGEST};
use crate::model::{C, Class, Config, Handler, KINDS, Notify, Object, Routine, Service, What, is_name};
use crate::syntax::{Item, Statement};
use crate::target::Target;
use crate::values::{Values, is_present};

/// Checks the statements that the preprocessor has left in, of a configuration that begins there.
pub fn check(items: &[Item], values: &Values, target: Target, beginning: &Place) -> Result<Config, Vec<Fault>> {
    let mut checker = Checker {
        target,
        values,
        config: Config::default(),
        lines: BTreeMap::new(),
        names: BTreeMap::new(),
        named: Vec::new(),
        faults: Vec::new(),
    };
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
                // That of a class is the same for all that stands in it.
                if !checker.faults.contains(&fault) {
                    checker.faults.push(fault);
                }
            }
        }
    }
    checker.look_at_names();
    if checker.faults.is_empty() && checker.config.of("CRE_TSK").next().is_none() {
        checker.faults.push(Fault::new(beginning, "there is no task in this configuration; CRE_TSK makes one"));
    }
    checker.config.services.sort_by_key(|service| service.rank);
    if checker.faults.is_empty() { Ok(checker.config) } else { Err(checker.faults) }
}

/// The memory for the blocks of a pool, if the application has it: the name of an array.
fn pool(given: &Given<'_>) -> Result<Option<C>, Fault> {
    match given.memory("the pool") {
        Some(memory) if !is_name(&memory.text) => {
            let what = format!("'{}' is not the name of an array of MPF_T, nor NULL (E_NOSPT)", memory.text);
            Err(Fault::new(&memory.place, what))
        }
        memory => Ok(memory),
    }
}

/// The most bytes that one object may have.
const MOST: i64 = 1 << 24;

struct Checker<'a> {
    target: Target,
    values: &'a Values,
    config: Config,
    /// The lines of CFG_INT: attribute, priority, class, place.
    lines: BTreeMap<i64, (i64, i64, Class, Place)>,
    /// The names, each with the place of its definition.
    names: BTreeMap<String, Place>,
    /// The objects that notifications name, and the static API that must have made each.
    named: Vec<(&'static str, C)>,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn statement(&mut self, number: usize, statement: &Statement) -> Result<(), Fault> {
        let given = Given::new(statement, |index| self.values.get(&(number, index)).copied())?;
        let class = self.class(statement)?;
        match statement.name.as_str() {
            "CFG_INT" => self.line(&given, class),
            "CRE_ISR" => {
                self.take_name(&given)?;
                let (exinf, rank) = (given.c("the exinf")?, given.number("the priority", 1, 16)?);
                self.service(&given, Some(exinf), rank)
            }
            "DEF_INH" => self.service(&given, None, 0),
            "DEF_EXC" => self.exception(&given, class),
            "DEF_OVR" => self.overrun(&given),
            "ENA_SPR" => self.sub_priority(&given),
            "ATT_INI" | "ATT_TER" => {
                given.attribute(0)?;
                let processor = statement.class.as_ref().map(|_| class.processor());
                let routine = Routine { function: given.c("the function")?, exinf: given.c("the exinf")?, processor };
                if statement.name == "ATT_INI" {
                    self.config.initial.push(routine);
                } else {
                    self.config.terminal.insert(0, routine);
                }
                Ok(())
            }
            _ => {
                let what = self.what(&given)?;
                let name = self.take_name(&given)?;
                let (api, place) = (statement.name.clone(), statement.place.clone());
                let unused = given.memory("the memory");
                self.config.objects.push(Object { name, class, what, unused, api, place });
                Ok(())
            }
        }
    }

    /// The name of a new object, which no other object may have.
    fn take_name(&mut self, given: &Given<'_>) -> Result<String, Fault> {
        let name = given.name()?;
        if let Some(other) = self.names.get(&name.text) {
            let what = format!("there is a '{}' already, at {other} (E_OBJ)", name.text);
            return Err(Fault::new(&name.place, what));
        }
        self.names.insert(name.text.clone(), given.statement.place.clone());
        Ok(name.text)
    }

    /// Checks that the objects of notifications are of the right kind, if they are named and not computed.
    fn look_at_names(&mut self) {
        let kind = |api: &str| KINDS.iter().find(|kind| kind.1 == api).map_or("", |kind| kind.0).replace('_', " ");
        for (api, c) in &self.named {
            if let Some(object) = self.config.objects.iter().find(|object| object.name == c.text && object.api != *api)
            {
                let what = format!("{} is one of the {}, not of the {} (E_ID)", c.text, kind(&object.api), kind(api));
                self.faults.push(Fault::new(&c.place, what));
            }
        }
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

    fn what(&mut self, given: &Given<'_>) -> Result<What, Fault> {
        let by_priority = |attribute: i64| attribute & 1 != 0;
        Ok(match given.statement.name.as_str() {
            "CRE_TSK" => {
                let attribute = given.attribute(0x07)?;
                let least = self.target.minimum_stack() as i64;
                let stack = given.number("the size of the stack", i64::MIN, i64::MAX)?;
                // On this machine, where memory is not what is scarce, what is enough for a board is enough.
                let stack = if self.target.platform.is_none() && stack > 0 { stack.max(least) } else { stack };
                if stack < least {
                    let what = format!(
                        "the stack has {stack} bytes, and this target needs at least {least}: TARGET_MIN_STKSZ, and what the task needs besides (E_PAR)"
                    );
                    return Err(Fault::new(given.place("the size of the stack"), what));
                }
                given.number("the size of the stack", 1, 1 << 30)?;
                What::Task {
                    active: attribute & 1 != 0,
                    queues: attribute & 2 == 0,
                    restricted: attribute & 4 != 0,
                    priority: given.number("the priority", 1, 16)?,
                    stack,
                    entry: given.c("the function")?,
                    exinf: given.c("the exinf")?,
                }
            }
            "CRE_SEM" => {
                let most = given.number("the most resources", 1, ANY)?;
                What::Semaphore {
                    by_priority: by_priority(given.attribute(1)?),
                    initial: given.number("the number of resources", 0, most)?,
                    most,
                }
            }
            "CRE_FLG" => {
                let attribute = given.attribute(7)?;
                What::EventFlag {
                    by_priority: by_priority(attribute),
                    many: attribute & 2 != 0,
                    clearing: attribute & 4 != 0,
                    initial: given.number("the pattern", i32::MIN.into(), ANY)? & ANY,
                }
            }
            "CRE_DTQ" => What::DataQueue {
                by_priority: by_priority(given.attribute(1)?),
                words: given.number("the number of words", 0, MOST)?,
            },
            "CRE_PDQ" => What::PriorityDataQueue {
                by_priority: by_priority(given.attribute(1)?),
                words: given.number("the number of words", 0, MOST)?,
                lowest: given.number("the lowest priority", 1, 16)?,
            },
            "CRE_MTX" => {
                let attribute = given.attribute(3)?;
                let ceiling = if attribute == 3 { Some(given.number("the ceiling", 1, 16)?) } else { None };
                What::Mutex { by_priority: attribute != 0, ceiling, inheriting: attribute == 2 }
            }
            "CRE_MBF" => What::MessageBuffer {
                by_priority: by_priority(given.attribute(1)?),
                longest: given.number("the longest message", 1, MOST)?,
                size: (given.number("the size", 0, MOST)? + 3) & !3,
            },
            "CRE_MPF" => {
                let size = given.number("the size of a block", 1, MOST)?;
                What::MemoryPool {
                    by_priority: by_priority(given.attribute(1)?),
                    blocks: given.number("the number of blocks", 1, MOST / size)?,
                    size,
                    within: pool(given)?,
                }
            }
            "CRE_SPN" => {
                // TA_NATIVE: they all are.
                given.attribute(1)?;
                What::SpinLock
            }
            "CRE_CYC" => What::Cyclic {
                started: given.attribute(2)? != 0,
                notify: self.notify(given)?,
                period: given.number("the period", 1, LONGEST)?,
                phase: given.number("the phase", 0, LONGEST)?,
            },
            // What else has a shape is not made here.
            _ => {
                given.attribute(0)?;
                What::Alarm { notify: self.notify(given)? }
            }
        })
    }

    fn notify(&mut self, given: &Given<'_>) -> Result<Notify, Fault> {
        let (c, place) = given.notification()?;
        let (notify, named) = crate::notify::read(&c, place)?;
        self.named.extend(named);
        Ok(notify)
    }

    fn line(&mut self, given: &Given<'_>, class: Class) -> Result<(), Fault> {
        let (lines, own) = self.target.lines();
        let line = given.number("the line", *lines.start(), *lines.end())?;
        if own.contains(&line) {
            return Err(Fault::new(given.place("the line"), format!("line {line} is the kernel's own (E_OBJ)")));
        }
        let attribute = given.attribute(3)?;
        let priority = given.number("the priority of the interrupt", self.target.highest_interrupt(), -1)?;
        if let Some((.., place)) = self.lines.get(&line) {
            let what = format!("line {line} is configured already, at {place} (E_OBJ)");
            return Err(Fault::new(given.place("the line"), what));
        }
        self.lines.insert(line, (attribute, priority, class, given.statement.place.clone()));
        Ok(())
    }

    /// CRE_ISR or DEF_INH.
    fn service(&mut self, given: &Given<'_>, exinf: Option<C>, rank: i64) -> Result<(), Fault> {
        given.attribute(0)?;
        let line = given.number("the line", 0, 1 << 16)?;
        let Some(&(attribute, priority, class, _)) = self.lines.get(&line) else {
            return Err(Fault::new(given.place("the line"), format!("line {line} has no CFG_INT (E_OBJ)")));
        };
        let handler = given.c("the function")?;
        let (enabled, edge) = (attribute & 1 != 0, attribute & 2 != 0);
        self.config.services.push(Service {
            line,
            priority,
            enabled,
            edge,
            processor: class.processor(),
            rank,
            handler,
            exinf,
        });
        Ok(())
    }

    /// DEF_EXC. The number may say in its upper half which processor it is for, from 1, as in FMP3.
    fn exception(&mut self, given: &Given<'_>, class: Class) -> Result<(), Fault> {
        let known = self.target.exceptions();
        let number = given.number("the exception", 0, ANY)?;
        let (place, exception) = (number >> 16, number & 0xffff);
        given.attribute(0)?;
        if !known.contains(&exception) {
            let what = format!("there is no exception {exception}; this target has {known:?} (E_PAR)");
            return Err(Fault::new(given.place("the exception"), what));
        }
        if place > self.target.processors as i64 {
            let what = format!("the exception is of processor {place}; the target has {}", self.target.processors);
            return Err(Fault::new(given.place("the exception"), what + " (E_PAR)"));
        }
        let processor = match class {
            _ if place > 0 => Some(place as usize - 1),
            Class::All(_) => None,
            Class::Only(processor) | Class::Pinned(processor) => Some(processor),
        };
        let function = given.c("the function")?;
        if let Some(other) = self.config.exceptions.iter().find(|other| {
            other.exception == exception
                && (other.processor.is_none() || processor.is_none() || other.processor == processor)
        }) {
            let what = format!("exception {exception} has a handler already, at {} (E_OBJ)", other.function.place);
            return Err(Fault::new(given.place("the exception"), what));
        }
        self.config.exceptions.push(Handler { function, exception, processor });
        Ok(())
    }

    fn overrun(&mut self, given: &Given<'_>) -> Result<(), Fault> {
        given.attribute(0)?;
        if let Some(other) = &self.config.overrun {
            let what = format!("there is an overrun handler already, at {} (E_OBJ)", other.place);
            return Err(Fault::new(&given.statement.place, what));
        }
        self.config.overrun = Some(given.c("the function")?);
        Ok(())
    }

    /// A priority within which tasks are in the order of their sub-priorities. It may be named twice.
    fn sub_priority(&mut self, given: &Given<'_>) -> Result<(), Fault> {
        if given.statement.class.is_some() {
            return Err(Fault::new(&given.statement.place, "ENA_SPR is of no class (E_RSATR)".to_owned()));
        }
        self.config.sub_priorities.insert(given.number("the priority", 1, 16)?);
        Ok(())
    }
}
