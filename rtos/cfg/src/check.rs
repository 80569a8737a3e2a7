//! The statements of a configuration, checked one by one.

use std::collections::BTreeMap;

use crate::given::{ANY, Given, LONGEST};
use crate::model::{C, Class, Config, Handler, Notify, Object, Service, What, is_name, is_number};
use crate::parse::{Argument, Item, Statement};
use crate::target::Target;
use crate::values::{self, Values, expressions, is_present};
use crate::{Fault, Place};

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

impl Checker<'_> {
    fn statement(&mut self, number: usize, statement: &Statement) -> Result<(), Fault> {
        let all = expressions(&statement.arguments);
        let value = |index| self.values.get(&(number, index)).copied();
        let given = Given { statement, values: (0..all.len()).map(value).collect(), all };
        let class = self.class(statement)?;
        match statement.name.as_str() {
            "CFG_INT" => return self.line(&given, class),
            "CRE_ISR" => return self.service(&given, 3, Some(2), 4),
            "DEF_INH" => return self.service(&given, 0, None, 2),
            "DEF_EXC" => return self.exception(&given, class),
            "DEF_OVR" => return self.overrun(&given),
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

    /// CRE_ISR or DEF_INH: the places of the line, of the exinf, if there is one, and of the function.
    fn service(&mut self, given: &Given<'_>, line: usize, exinf: Option<usize>, handler: usize) -> Result<(), Fault> {
        given.attribute(1, 0)?;
        let number = given.number(line, "the line", 0, 1 << 16)?;
        let Some(&(attribute, priority, class, _)) = self.lines.get(&number) else {
            return Err(Fault::new(given.place(line), format!("line {number} has no CFG_INT (E_OBJ)")));
        };
        let (Class::All(processor) | Class::Only(processor) | Class::Pinned(processor)) = class;
        let (handler, exinf) = (given.c(handler)?, exinf.map(|exinf| given.c(exinf)).transpose()?);
        let enabled = attribute & 1 != 0;
        self.config.services.push(Service { line: number, priority, enabled, processor, handler, exinf });
        Ok(())
    }

    /// DEF_EXC. The number may say in its upper half which processor it is for, from 1, as in FMP3.
    fn exception(&mut self, given: &Given<'_>, class: Class) -> Result<(), Fault> {
        let known = self.target.exceptions();
        let number = given.number(0, "the exception", 0, ANY)?;
        let (place, exception) = (number >> 16, number & 0xffff);
        given.attribute(1, 0)?;
        if !known.contains(&exception) {
            let what = format!("there is no exception {exception}; this target has {known:?} (E_PAR)");
            return Err(Fault::new(given.place(0), what));
        }
        if place > self.target.processors as i64 {
            let what = format!("the exception is of processor {place}; the target has {}", self.target.processors);
            return Err(Fault::new(given.place(0), what + " (E_PAR)"));
        }
        let processor = match class {
            _ if place > 0 => Some(place as usize - 1),
            Class::All(_) => None,
            Class::Only(processor) | Class::Pinned(processor) => Some(processor),
        };
        let function = given.c(2)?;
        if let Some(other) = self.config.exceptions.iter().find(|other| {
            other.exception == exception
                && (other.processor.is_none() || processor.is_none() || other.processor == processor)
        }) {
            let what = format!("exception {exception} has a handler already, at {} (E_OBJ)", other.function.place);
            return Err(Fault::new(given.place(0), what));
        }
        self.config.exceptions.push(Handler { function, exception, processor });
        Ok(())
    }

    fn overrun(&mut self, given: &Given<'_>) -> Result<(), Fault> {
        given.attribute(0, 0)?;
        if let Some(other) = &self.config.overrun {
            let what = format!("there is an overrun handler already, at {} (E_OBJ)", other.place);
            return Err(Fault::new(&given.statement.place, what));
        }
        self.config.overrun = Some(given.c(1)?);
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
