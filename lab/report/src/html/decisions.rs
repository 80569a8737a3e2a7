//! The box at the head of the page: whether wake-ups meet what the run is held to, in each environment and under each setting.
//!
//! What an emulator measured stands apart from the rest, below it.

use super::parts::escape;
use crate::decisions::{Costs, Decided, Decisions, Verdict, required};
use crate::report::Report;

/// The boxes; without a deadline one line that says how to ask, and nothing where no wake-ups were measured.
pub fn boxes(report: &Report) -> String {
    if report.decisions.is_empty() {
        return match report.has_wake_ups() && !report.is_imported() {
            true => "<p class=\"ask\">Would a deadline be met here? <code>kizami report --deadline 200us --miss 1e-6</code> \
                     decides it for each environment and setting.</p>"
                .to_owned(),
            false => String::new(),
        };
    }
    report.decisions.iter().map(one_box).collect()
}

fn one_box(decisions: &Decisions) -> String {
    let items = |emulated: bool| -> String {
        decisions.decided.iter().filter(|one| (one.verdict() == Verdict::Emulated) == emulated).map(item).collect()
    };
    let native = match items(false).as_str() {
        "" => "<p>Nothing but an emulator measured wake-ups, and its times decide nothing.</p>".to_owned(),
        items => format!("<ul>{items}</ul>"),
    };
    let emulated = match items(true).as_str() {
        "" => String::new(),
        items => format!("<h3>Emulated: of another machine, and no answer</h3><ul>{items}</ul>"),
    };
    let note = decisions.note();
    let by = match decisions.study.as_str() {
        "" => String::new(),
        study => format!(" by {}", escape(study)),
    };
    format!(
        "<section class=\"decisions\" aria-label=\"Decisions\"><h2>Is the deadline met?</h2><p class=\"required\">Required{by}: a \
         wake-up {}.</p>{native}{emulated}<p class=\"note\">Each decision is of the wake-ups that this run measured, under the \
         settings that were in force; what did not happen in the run is beyond it. The time that the task itself takes comes off \
         its deadline. {note}</p></section>",
        escape(&required(&decisions.requirement))
    )
}

fn item(one: &Decided) -> String {
    let verdict = one.verdict();
    let class = match verdict {
        Verdict::Meets => "holds",
        Verdict::DoesNot => "fails",
        Verdict::NotYet | Verdict::Open | Verdict::Emulated => "open",
    };
    let sentence = one.sentence();
    // The mark has said it.
    let sentence =
        sentence.strip_prefix(verdict.word()).map_or(sentence.as_str(), |rest| rest.trim_start_matches(": "));
    let helps = match one.helps().as_str() {
        "" => String::new(),
        helps => format!("<br><span class=\"helps\">What would help: {}</span>", escape(helps)),
    };
    format!(
        "<li class=\"{class}\"><span class=\"verdict\">{}</span><span>{}<br><span class=\"shown\">{}</span>{}{helps}</span></li>",
        verdict.word(),
        escape(&one.label()),
        escape(sentence),
        costs(&one.costs, verdict == Verdict::Emulated),
    )
}

/// What the environment costs, as far as the run measured it.
fn costs(costs: &Costs, emulated: bool) -> String {
    let words: Vec<String> = costs.written(emulated).iter().map(|(name, value)| format!("{name} {value}")).collect();
    match words.as_slice() {
        [] => String::new(),
        words => format!("<br><span class=\"costs\">{}</span>", escape(&words.join(" · "))),
    }
}
