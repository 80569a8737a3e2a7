//! The palette: one colour for one name, in all figures of a report.
//!
//! Figures that tell names apart by colour (lines over each other in one plot) share it out: names that stand in one such
//! figure get different tones, as long as there are [`Tone::LINES`]. Any other figure takes the tones that its names have
//! by then, if all of them have one; otherwise it is drawn in the first colour, which stands for no name and is therefore
//! the last to be given to one.
//!
//! Tones are given in the order in which names appear, so that the same report has the same colours each time.

use std::collections::{BTreeMap, BTreeSet};

use super::figure::Figure;
use super::tone::{SERIES, Tone};

/// Gives every name in `figures` its tone.
pub fn paint(figures: &mut [&mut dyn Figure]) {
    let mut order: Vec<String> = Vec::new();
    // Names that must differ, because they stand in one figure.
    let mut beside: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for figure in figures.iter_mut() {
        let names: Vec<String> = figure.coloured().into_iter().map(|(name, _)| name.to_owned()).collect();
        if !figure.tells_by_colour() || names.len() < 2 {
            continue;
        }
        for name in &names {
            if !beside.contains_key(name) {
                order.push(name.clone());
            }
            let others = names.iter().filter(|other| *other != name).cloned();
            beside.entry(name.clone()).or_default().extend(others);
        }
    }
    let mut tones: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &order {
        let taken: Vec<usize> = beside[name].iter().filter_map(|other| tones.get(other.as_str()).copied()).collect();
        let uses = |tone: usize| taken.iter().filter(|other| **other == tone).count();
        if let Some(tone) = preferred().min_by_key(|tone| uses(*tone)) {
            tones.insert(name, tone);
        }
    }
    for figure in figures.iter_mut() {
        let mut coloured = figure.coloured();
        let all = coloured.iter().all(|(name, _)| tones.contains_key(name));
        for (name, tone) in &mut coloured {
            **tone = tones.get(name).filter(|_| all).map_or(Tone::default(), |index| Tone::Series(*index));
        }
    }
}

/// All tones, the first colour after the others, whole lines before dashed ones.
fn preferred() -> impl Iterator<Item = usize> {
    [0, SERIES].into_iter().flat_map(|first| (first + 1..first + SERIES).chain([first]))
}

#[cfg(test)]
mod tests {
    use super::super::lines::{Line, Lines};
    use super::super::trials::{Samples, Series, Trials};
    use super::super::{Scale, Unit};
    use super::*;

    fn lines(names: &[&str]) -> Lines {
        let line = |name: &&str| Line { label: (*name).into(), points: vec![(0.0, 1.0)], ..Line::default() };
        Lines {
            title: String::new(),
            subtitle: String::new(),
            time: String::new(),
            time_unit: Unit::Count,
            quantity: String::new(),
            unit: Unit::Count,
            scale: Scale::Linear,
            lines: names.iter().map(line).collect(),
            steps: vec![],
        }
    }

    fn tones(figure: &mut dyn Figure) -> BTreeMap<String, Tone> {
        figure.coloured().into_iter().map(|(name, tone)| (name.to_owned(), *tone)).collect()
    }

    #[test]
    fn a_name_has_one_colour_whatever_its_place_in_a_figure() {
        let mut figures =
            [lines(&["free", "other", "slab"]), lines(&["other", "slab"]), lines(&["slab", "new", "free"])];
        let [a, b, c] = &mut figures;
        paint(&mut [a, b, c]);
        let all = figures.each_mut().map(|figure| tones(figure));
        for name in ["free", "other", "slab"] {
            let mut found: Vec<Tone> = all.iter().filter_map(|tones| tones.get(name).copied()).collect();
            found.dedup();
            assert_eq!(found.len(), 1, "{name} is {found:?}");
        }
    }

    #[test]
    fn names_that_meet_in_a_figure_differ_even_where_they_come_from_figures_of_their_own() {
        let many: Vec<String> = (0..Tone::LINES).map(|i| format!("series {i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut figures = [lines(&["a", "b"]), lines(&["c", "d"]), lines(&["a", "c"]), lines(&many)];
        let [a, b, c, d] = &mut figures;
        paint(&mut [a, b, c, d]);
        for figure in &mut figures {
            let all = tones(figure);
            let different: BTreeSet<String> = all.values().map(|tone| tone.line()).collect();
            assert_eq!(different.len(), all.len(), "{all:?}");
        }
    }

    #[test]
    fn a_figure_that_tells_nothing_by_colour_follows_those_that_do() {
        let series =
            |name: &str| Series { label: name.into(), samples: Samples::Points(vec![(0.0, 1.0)]), ..Series::default() };
        let panels = |names: &[&str]| Trials {
            title: String::new(),
            subtitle: String::new(),
            order: String::new(),
            order_unit: Unit::Count,
            quantity: String::new(),
            unit: Unit::Count,
            scale: Scale::Linear,
            series: names.iter().map(|name| series(name)).collect(),
            limit: None,
        };
        let (mut same, mut partly, mut coloured) =
            (panels(&["known"]), panels(&["known", "alone"]), lines(&["other", "known"]));
        paint(&mut [&mut same, &mut partly, &mut coloured]);
        let coloured = tones(&mut coloured);
        assert_eq!(tones(&mut same)["known"], coloured["known"]);
        assert!(tones(&mut partly).values().all(|tone| *tone == Tone::default()));
        assert!(!coloured.values().any(|tone| *tone == Tone::default()));
    }
}
