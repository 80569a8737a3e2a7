//! Notifications of time: the action, such as `{ TNFY_ACTTSK, TASK1 }`, and the action if the first one fails, as in `{
//! TNFY_SIGSEM|TENFY_SETVAR, SEM1, &error }`.

use crate::fault::{Fault, Place};
use crate::model::{C, Notify};

/// An object that a notification names, and the static API that must have made it.
pub(crate) type Named = (&'static str, C);

/// The action of a notification, and the objects that it names.
pub(crate) fn read(given: &[C], place: &Place) -> Result<(Notify, Vec<Named>), Fault> {
    let all = || given.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = || Fault::new(place, format!("there is no notification '{}' (E_PAR)", all()));
    let Some((modes, mut rest)) = given.split_first() else { return Err(unknown()) };
    let (mode, on_error) = match modes.text.split_once('|') {
        Some((mode, on_error)) => (mode.trim(), Some(on_error.trim())),
        None => (modes.text.as_str(), None),
    };
    let mode = mode.strip_prefix("TNFY_").ok_or_else(unknown)?;
    if let ("HANDLER", None, [exinf, function]) = (mode, on_error, rest) {
        return Ok((Notify::Handler(function.clone(), exinf.clone()), Vec::new()));
    }
    let mut named = Vec::new();
    let mut text = action(mode, None, &mut rest, &mut named).ok_or_else(unknown)?;
    if let Some(on_error) = on_error {
        if named.is_empty() {
            return Err(Fault::new(place, format!("'{}' cannot fail (E_RSATR)", modes.text)));
        }
        let on_error = on_error.strip_prefix("TENFY_").ok_or_else(unknown)?;
        let action = action(on_error, Some("kernel_ercd"), &mut rest, &mut named).ok_or_else(unknown)?;
        text = format!("ER kernel_ercd = {text};\nif (kernel_ercd < 0) (void)({action})");
    } else {
        text = format!("(void)({text})");
    }
    if !rest.is_empty() {
        return Err(unknown());
    }
    Ok((Notify::Statement(C { text, place: place.clone() }), named))
}

/// The expression of an action, with as much of `rest` as it takes. After an error, a word that is stored or sent is
/// the error.
fn action(what: &str, error: Option<&str>, rest: &mut &[C], named: &mut Vec<Named>) -> Option<String> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    let mut second = || {
        let (second, others) = rest.split_first()?;
        *rest = others;
        Some(second.text.clone())
    };
    let mut word = || error.map_or_else(&mut second, |error| Some(error.to_string()));
    let target = &first.text;
    let (api, text) = match what {
        "SETVAR" => ("", format!("*({target}) = (intptr_t)({})", word()?)),
        "INCVAR" => ("", format!("*({target}) += 1")),
        "ACTTSK" => ("CRE_TSK", format!("act_tsk({target})")),
        "WUPTSK" => ("CRE_TSK", format!("wup_tsk({target})")),
        "SIGSEM" => ("CRE_SEM", format!("sig_sem({target})")),
        "SETFLG" => ("CRE_FLG", format!("set_flg({target}, {})", second()?)),
        "SNDDTQ" => ("CRE_DTQ", format!("psnd_dtq({target}, (intptr_t)({}))", word()?)),
        _ => return None,
    };
    if !api.is_empty() {
        named.push((api, first.clone()));
    }
    Some(text)
}
