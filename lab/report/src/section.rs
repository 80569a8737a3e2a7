//! A section of the report: a group of a study, with the series that were measured for it.
//!
//! [`crate::tables`] makes the tables of a section; this module chooses its figures, and the series in each.

use kizami_recording::folder::{Measured, Series};
use kizami_recording::stats::{self, Known};
use kizami_studies::{Figure as Wanted, Group, Statistic, Study};

use crate::analysis::{self, Analysis};
use crate::figures::{self, About, Entry};
use crate::measure::Measure;
use crate::missing;
use crate::names::LATENCIES;
use crate::numbers::whole;
use crate::phases;
use crate::plot::limit::Limit;
use crate::plot::{Figure, Unit, boxes, cumulative, lines, rates, ratios};
use crate::profiles;
use crate::settings;
use crate::table::Table;
use crate::tables;

/// A drawing with what stands under it.
pub struct Drawn {
    /// A plain file stem, unique in the report.
    pub name: String,
    pub figure: Box<dyn Figure>,
    /// The settings in force for what is drawn.
    pub settings: String,
}

/// A group of a study, as its tables and figures.
pub struct Section {
    /// `study-group`.
    pub id: String,
    pub title: String,
    pub about: String,
    pub tables: Vec<Table>,
    pub figures: Vec<Drawn>,
    /// The settings in force for all of its series.
    pub settings: Vec<(String, String)>,
    /// All settings in force, by row.
    pub each: Vec<(String, String)>,
    /// The requested settings that did not take effect, and what of the samples was not recorded.
    pub refused: Vec<String>,
}

/// Builds the section of `group`, with `deadline` in nanoseconds in its figures of latencies; `None` when nothing of it was
/// measured or published.
pub fn build(study: &Study, group: &Group, analyses: &[Analysis<'_>], deadline: Option<u64>) -> Option<Section> {
    let series: Vec<&Series> = analyses.iter().map(Analysis::series).collect();
    let rows = group.rows(&study.name, &series);
    let measures: Vec<Measure<'_, '_>> =
        rows.iter().map(|row| Measure { row, analysis: &analyses[row.series] }).collect();
    if measures.is_empty() {
        return unmeasured(study, group);
    }
    let shown: Vec<&Series> = measures.iter().map(Measure::series).collect();
    let (in_force, mut refused) = settings::in_force(&shown);
    let label = |m: &Measure<'_, '_>| Some(format!("{}: {}", m.row.label, missing::sentence(m.series())?));
    refused.extend(measures.iter().filter_map(label));
    let id = format!("{}-{}", study.name, group.id);
    let settings = caption(&in_force, &shown);
    let figures = Figures { id: &id, study, group, measures: &measures, settings, deadline };
    Some(Section {
        figures: figures.all(),
        tables: tables::of(study, group, &measures),
        title: group.title.clone(),
        about: group.about.trim().to_owned(),
        settings: in_force,
        each: measures.iter().map(|m| (m.row.label.clone(), settings::of(m.series()))).collect(),
        refused,
        id,
    })
}

/// Makes the figures that a group asks for.
struct Figures<'s, 'r, 'a> {
    id: &'s str,
    study: &'s Study,
    group: &'s Group,
    measures: &'s [Measure<'r, 'a>],
    settings: String,
    /// What latencies are held against, in nanoseconds.
    deadline: Option<u64>,
}

impl<'r, 'a> Figures<'_, 'r, 'a> {
    fn all(&self) -> Vec<Drawn> {
        let mut drawn = Vec::new();
        for wanted in &self.group.figures {
            let figures = match wanted {
                Wanted::Memory => self.memory(),
                Wanted::Rates => self.rates(),
                Wanted::Ratio => self.ratios(),
                Wanted::Sweep => self.sweeps(),
                Wanted::Phases => phases::figures(&self.group.title, self.measures),
                Wanted::Profile => profiles::figures(self.measures),
                other => self.distributions(*other),
            };
            let stem = |index: usize| match index {
                0 => format!("{}-{}", self.id, wanted.name()),
                _ => format!("{}-{}-{}", self.id, wanted.name(), index + 1),
            };
            drawn.extend(figures.into_iter().enumerate().map(|(index, figure)| Drawn {
                name: stem(index),
                figure,
                settings: self.settings.clone(),
            }));
        }
        drawn
    }

    /// One figure for each unit, and for box plots of workloads whose times are orders of magnitude apart, one each.
    fn distributions(&self, wanted: Wanted) -> Vec<Box<dyn Figure>> {
        let mut sets: Vec<Vec<&Measure<'r, 'a>>> = Vec::new();
        let is_drawn = |m: &&Measure<'r, 'a>| {
            // What is kept as counts has no order.
            m.analysis.summary.is_some() && (wanted != Wanted::Trials || !m.series().counted)
        };
        for measure in self.measures.iter().filter(is_drawn) {
            let belongs = |set: &&mut Vec<&Measure<'r, 'a>>| {
                set[0].analysis.unit() == measure.analysis.unit()
                    && (wanted == Wanted::Box || set[0].series().workload == measure.series().workload)
            };
            match sets.iter_mut().find(belongs) {
                Some(set) => set.push(measure),
                None => sets.push(vec![measure]),
            }
        }
        sets.iter().map(|set| self.distribution(wanted, set)).collect()
    }

    fn distribution(&self, wanted: Wanted, set: &[&Measure<'r, 'a>]) -> Box<dyn Figure> {
        let workloads: Vec<&str> = {
            let mut names: Vec<&str> = set.iter().map(|m| m.series().workload.as_str()).collect();
            names.dedup();
            names
        };
        // A heading over a single row would only say it twice.
        let headed = workloads.len() > 1 && workloads.len() < set.len();
        let entries: Vec<Entry<'_, 'a>> = set
            .iter()
            .map(|measure| {
                let workload = &measure.series().workload;
                let label = measure.row.label.strip_prefix(workload).map_or("", |rest| rest.trim_start_matches(", "));
                let alone = label.is_empty() || (!headed && workloads.len() > 1);
                Entry {
                    label: if alone { measure.row.label.clone() } else { label.to_owned() },
                    heading: if headed { workload.clone() } else { String::new() },
                    analysis: measure.analysis,
                    published: self.published(measure.series()),
                }
            })
            .collect();
        let about = self.about(wanted, set, &workloads);
        match wanted {
            Wanted::Histogram => Box::new(figures::histogram(about, &entries)),
            Wanted::Cumulative => Box::new(figures::cumulative(about, &entries, cumulative::Form::Ordinary)),
            Wanted::Tail => Box::new(figures::cumulative(about, &entries, cumulative::Form::Tail)),
            Wanted::Trials => Box::new(figures::trials(about, &entries)),
            _ => Box::new(figures::box_plot(about, &entries)),
        }
    }

    fn about(&self, wanted: Wanted, set: &[&Measure<'r, 'a>], workloads: &[&str]) -> About {
        let what = match wanted {
            Wanted::Box => "spread",
            Wanted::Histogram => "how often each time occurred",
            Wanted::Cumulative => "share of samples at or below",
            Wanted::Tail => "how often a time is exceeded",
            Wanted::Trials => "every sample, in order",
            _ => "",
        };
        let subject = match workloads {
            [one] => kizami_workloads::find(one).map_or(*one, |w| w.title).to_owned(),
            _ => self.group.title.clone(),
        };
        let summaries = || set.iter().filter_map(|m| m.analysis.summary.as_ref());
        let samples: u64 = summaries().map(|s| s.count - s.beyond).sum();
        let absent: u64 = summaries().map(|s| s.beyond.saturating_add(s.lost)).fold(0, u64::saturating_add);
        let absent = match absent {
            0 => String::new(),
            absent => format!("; {} more lie beyond their limits, or were lost, and are not drawn", whole(absent)),
        };
        About {
            title: format!("{subject}: {what}"),
            subtitle: format!("{} samples of {} series{absent}", whole(samples), set.len()),
            quantity: quantity(set[0].analysis.unit()).into(),
            limit: self.limit(set),
        }
    }

    /// The deadline, in figures that show nothing but latencies.
    fn limit(&self, set: &[&Measure<'r, 'a>]) -> Option<Limit> {
        let is_latency = |m: &&Measure<'r, 'a>| {
            m.analysis.unit() == Unit::Nanoseconds && LATENCIES.contains(&m.series().workload.as_str())
        };
        let deadline = self.deadline.filter(|_| set.iter().all(is_latency))? as f64;
        Some(Limit { value: deadline, name: format!("deadline {}", Unit::Nanoseconds.value(deadline)) })
    }

    /// The first machine of the paper that has an average and a maximum.
    fn published(&self, series: &Series) -> Option<boxes::Published> {
        tables::published_of(self.study, self.group, series).into_iter().find_map(|(machine, figures)| {
            let average = *figures.get(&Statistic::Mean)?;
            let maximum = figures.get(&Statistic::Max).copied().unwrap_or(average);
            Some(boxes::Published { average, maximum, note: machine })
        })
    }

    fn memory(&self) -> Vec<Box<dyn Figure>> {
        let watched = self.measures.iter().filter(|m| m.series().measured() == Measured::Watched);
        let draw = |measure: &Measure<'r, 'a>| {
            let part = measure.series().part.clone();
            let label = measure.row.label.trim_end_matches(&part).trim_end_matches(", ").to_owned();
            figures::memory(&label, &part, measure.analysis.loaded)
        };
        watched.flat_map(draw).collect()
    }

    fn rates(&self) -> Vec<Box<dyn Figure>> {
        let mut curves: Vec<(String, Vec<rates::Point>)> = Vec::new();
        for measure in self.measures {
            let Some(point) = analysis::rate_point(measure.analysis) else { continue };
            // What is left of the label without the rate tells the curves apart.
            let label: Vec<&str> = measure.row.label.split(", ").filter(|word| !word.starts_with("rate ")).collect();
            let label = label.join(", ");
            match curves.iter_mut().find(|(name, _)| *name == label) {
                Some((_, points)) => points.push(point),
                None => curves.push((label, vec![point])),
            }
        }
        if curves.is_empty() {
            return Vec::new();
        }
        let about = About {
            title: "UDP: what arrives of what is offered".into(),
            subtitle: "Bars are the range of the intervals of a trial.".into(),
            quantity: String::new(),
            limit: None,
        };
        vec![Box::new(figures::rates(about, curves))]
    }

    /// The median, or what the group says, over the parameter that varies: a drawing for each unit, a line for all that agrees in the rest.
    fn sweeps(&self) -> Vec<Box<dyn Figure>> {
        let number = |m: &Measure<'r, 'a>, name: &str| m.series().params.get(name)?.parse::<f64>().ok();
        let varies = |name: &&String| {
            let mut values = self.measures.iter().map(|m| number(m, name));
            let first = values.next().flatten();
            first.is_some() && values.any(|value| value.is_some() && value != first)
        };
        let names = self.measures.first().map(|m| m.row.condition.iter().map(|(name, _)| name).collect::<Vec<_>>());
        let Some(name) = names.unwrap_or_default().into_iter().find(varies) else { return Vec::new() };
        let statistic = self.group.statistics.first().copied().unwrap_or(Statistic::Median);
        let mut sets: Vec<(Unit, Vec<lines::Line>)> = Vec::new();
        for measure in self.measures {
            let (Some(at), Some(summary)) = (number(measure, name), &measure.analysis.summary) else { continue };
            // What is left of the label without the parameter and the workload tells the lines apart.
            let varied = format!("{name} ");
            let words = measure.row.label.split(", ");
            let words: Vec<&str> =
                words.filter(|w| !w.starts_with(&varied) && *w != measure.series().workload).collect();
            let label = words.join(", ");
            let unit = measure.analysis.unit();
            let set = sets.iter().position(|(of, _)| *of == unit).unwrap_or_else(|| {
                sets.push((unit, Vec::new()));
                sets.len() - 1
            });
            let Some(figure) = statistic.of(summary).and_then(Known::exactly) else { continue };
            let point = (at, measure.analysis.scale(figure));
            match sets[set].1.iter_mut().find(|line| line.label == label) {
                Some(line) => line.points.push(point),
                None => sets[set].1.push(lines::Line { label, points: vec![point], ..lines::Line::default() }),
            }
        }
        let draw = |(unit, mut drawn): (Unit, Vec<lines::Line>)| -> Box<dyn Figure> {
            drawn.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
            let about = About {
                title: format!("{}: {} over {name}", self.group.title, statistic),
                subtitle: String::new(),
                quantity: quantity(unit).into(),
                limit: None,
            };
            Box::new(figures::sweep(about, name, unit, drawn))
        };
        sets.into_iter().map(draw).collect()
    }

    /// The first environment's to each other one's, for the same workload, parameters and settings.
    fn ratios(&self) -> Vec<Box<dyn Figure>> {
        let first = self.group.environments.first().map_or("", |environment| environment.name());
        let rows: Vec<ratios::Row> = pairs(self.measures, first)
            .iter()
            .map(|(ours, theirs)| {
                let comparison = compare(ours, theirs);
                ratios::Row {
                    label: ours.row.label.replace(&format!(", {first}"), ""),
                    sublabel: format!("to {}", theirs.series().environment),
                    ratio: comparison.ok().and_then(|c| {
                        let interval = c.support?.interval;
                        Some(ratios::Ratio { value: c.ratio, low: interval.low, high: interval.high })
                    }),
                }
            })
            .collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let about = About {
            title: format!("{}: ratios of medians", self.group.title),
            subtitle: "With 95 % intervals; the band is ± 10 %.".into(),
            quantity: if first == "host" { "ours over theirs".into() } else { format!("{first} over the other") },
            limit: None,
        };
        vec![Box::new(figures::ratio_plot(about, (0.9, 1.1), rows))]
    }
}

/// What an axis of that unit shows.
fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::BitsPerSecond => "throughput",
        Unit::Bytes => "memory",
        Unit::Instructions => "instructions",
        Unit::Cycles => "cycles",
        _ => "time",
    }
}

/// A group of which nothing could be measured here: what was published stands alone.
fn unmeasured(study: &Study, group: &Group) -> Option<Section> {
    Some(Section {
        id: format!("{}-{}", study.name, group.id),
        title: group.title.clone(),
        about: group.about.trim().to_owned(),
        tables: vec![tables::published_only(study, group)?],
        figures: Vec::new(),
        settings: Vec::new(),
        each: Vec::new(),
        refused: Vec::new(),
    })
}

/// What stands under a figure: what was in force, and what measuring cost.
fn caption(in_force: &[(String, String)], series: &[&Series]) -> String {
    let lines = [settings::line(in_force), settings::cost(series)];
    lines.iter().filter(|line| !line.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" — ")
}

/// Series of the environment `first` with those of other environments that did the same. Times of an emulator are not
/// compared with those of a machine.
fn pairs<'m, 'r, 'a>(measures: &'m [Measure<'r, 'a>], first: &str) -> Vec<(&'m Measure<'r, 'a>, &'m Measure<'r, 'a>)> {
    let mut pairs = Vec::new();
    for ours in measures.iter().filter(|m| m.series().environment == first) {
        let (a, ours_part) = (ours.series(), &ours.series().part);
        for theirs in measures {
            let b = theirs.series();
            let same = a.workload == b.workload && a.params == b.params && a.requested == b.requested;
            let comparable = a.emulated == b.emulated && b.measured() != Measured::Watched;
            if b.environment != first && same && *ours_part == b.part && comparable {
                pairs.push((ours, theirs));
            }
        }
    }
    pairs
}

fn compare(ours: &Measure<'_, '_>, theirs: &Measure<'_, '_>) -> Result<stats::Comparison, stats::Incomparable> {
    let (a, b) = (ours.analysis.loaded.trial_values(), theirs.analysis.loaded.trial_values());
    let a: Vec<&dyn stats::Samples> = a.iter().map(|v| &**v as &dyn stats::Samples).collect();
    let b: Vec<&dyn stats::Samples> = b.iter().map(|v| &**v as &dyn stats::Samples).collect();
    let design = ours.analysis.loaded.design_with(&theirs.analysis.loaded);
    stats::compare(&a, &b, design, stats::compare::Measure::Median)
}
