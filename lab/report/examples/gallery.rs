//! A gallery: every figure of a report with generated data, in one page. `cargo run -p kizami-report --example gallery
//! -- FOLDER` writes FOLDER/gallery.html, and each figure as SVG and CSV beside it.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use kizami_report::plot::boxes::{BoxPlot, Group, Published, Row, Spread};
use kizami_report::plot::composition::{Composition, Part};
use kizami_report::plot::cumulative::{Cumulative, Curve, Form};
use kizami_report::plot::histogram::{Bucket, Histogram, Series};
use kizami_report::plot::limit::Limit;
use kizami_report::plot::lines::{Line, Lines};
use kizami_report::plot::rates::{self, Estimate, Rates};
use kizami_report::plot::ratios::{self, Ratio, Ratios};
use kizami_report::plot::steps::Step;
use kizami_report::plot::strip::Strip;
use kizami_report::plot::trials::{self, Column, Samples, Trials, Worst};
use kizami_report::plot::{Figure, Scale, Tone, Unit, Width, palette, terminal, theme};

/// A small generator (xorshift64*), so that the pictures are the same each time.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Latencies around `typical` with a long tail.
    fn latencies(&mut self, count: usize, typical: f64, tail: f64) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let usual = typical * (1.0 + 0.09 * self.normal()).max(0.6);
                let late = if self.unit() < 0.012 { typical * tail * self.unit().powi(6) } else { 0.0 };
                (usual + late) as u64
            })
            .collect()
    }
}

fn row(label: &str, sublabel: &str, samples: &[u64]) -> Row {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize] as f64;
    let (q1, q3) = (at(0.25), at(0.75));
    let fences = (q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1));
    let inside = || sorted.iter().map(|v| *v as f64).filter(|v| *v >= fences.0 && *v <= fences.1);
    Row {
        label: label.into(),
        sublabel: sublabel.into(),
        spread: Some(Spread {
            low_whisker: inside().fold(f64::INFINITY, f64::min),
            q1,
            median: at(0.5),
            q3,
            high_whisker: inside().fold(0.0, f64::max),
            mean: samples.iter().sum::<u64>() as f64 / samples.len() as f64,
        }),
        outliers: sorted.iter().copied().filter(|v| (*v as f64) < fences.0 || *v as f64 > fences.1).collect(),
        ..Row::default()
    }
}

/// Log-linear buckets, 64 to a power of two.
fn buckets(samples: &[u64]) -> Vec<Bucket> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let mut out: Vec<Bucket> = Vec::new();
    for value in sorted {
        let width = (value.max(1).next_power_of_two() / 128).max(1);
        let low = value / width * width;
        match out.last_mut() {
            Some(last) if last.low == low => last.count += 1,
            _ => out.push(Bucket { low, high: low + width, count: 1 }),
        }
    }
    out
}

fn curve(label: &str, samples: &[u64]) -> Curve {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let share = |i: usize| (i + 1) as f64 / sorted.len() as f64;
    let points = sorted.iter().enumerate().map(|(i, v)| (*v as f64, share(i))).collect();
    Curve { label: label.into(), points, ..Curve::default() }
}

fn box_figures(random: &mut Random) -> Vec<Box<dyn Figure>> {
    let mut nerves = Vec::new();
    for (name, typical, published) in
        [("sum(4000)", 4.1e5, (4_990_000.0, 5_715_000.0)), ("fib(20)", 3.6e5, (5_051_000.0, 6_650_000.0))]
    {
        let mut rows = Vec::new();
        for (i, setting) in ["fullsweep_after 0", "fullsweep_after 32767", "fullsweep_after 65535"].iter().enumerate() {
            let samples = random.latencies(10_000, typical * (1.0 + 0.1 * i as f64), 14.0);
            let mut row = row(setting, "10,000 samples", &samples);
            if i == 2 {
                row.published =
                    Some(Published { average: published.0, maximum: published.1, note: "Raspberry Pi 3, 2020".into() });
            }
            rows.push(row);
        }
        nerves.push(Group { heading: name.into(), rows });
    }
    let sleep = [("low", 1.9), ("normal", 1.2), ("high", 0.25)];
    let rows = sleep
        .map(|(name, late)| {
            let samples: Vec<u64> = (0..10_000)
                .map(|_| (5.98e6 + 6e3 * random.normal() + late * 1e6 * random.unit().powi(40)) as u64)
                .collect();
            row(name, "", &samples)
        })
        .to_vec();
    let policies = [("SCHED_OTHER", 5.2e4, 900.0), ("SCHED_FIFO 90", 8.0e3, 60.0), ("SCHED_DEADLINE", 9.1e3, 30.0)];
    let mut wakeups: Vec<Row> = policies
        .iter()
        .map(|(name, typical, tail)| {
            row(name, "100,000 samples, cpu load", &random.latencies(100_000, *typical, *tail))
        })
        .collect();
    wakeups.push(Row { label: "SCHED_RR 50".into(), sublabel: "not permitted here".into(), ..Row::default() });
    wakeups.push(row(
        "a very long name of a series that somebody generated from all of its settings, cpu 0",
        "including those that nobody reads",
        &(0..1000).map(|_| (3e4 * (0.8 * random.normal()).exp()) as u64).collect::<Vec<u64>>(),
    ));
    let plot = |title: &str, subtitle: &str, quantity: &str, groups: Vec<Group>| -> Box<dyn Figure> {
        Box::new(BoxPlot {
            title: title.into(),
            subtitle: subtitle.into(),
            quantity: quantity.into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            groups,
            limit: None,
        })
    };
    vec![
        plot(
            "Execution times under fullsweep_after",
            "Erlang/OTP 25 on this machine, spawn option as named; below, what was published for a board",
            "execution time",
            nerves,
        ),
        plot(
            "sleep(5) by process priority",
            "10,000 samples each",
            "time slept",
            vec![Group { heading: String::new(), rows }],
        ),
        plot(
            "Wake-up latency by scheduling policy",
            "absolute timer, period 1 ms, one thread on each CPU",
            "latency",
            vec![Group { heading: String::new(), rows: wakeups }],
        ),
        plot("Nothing was measured", "", "latency", vec![]),
        plot(
            "One sample, and many equal ones",
            "",
            "latency",
            vec![Group {
                heading: String::new(),
                rows: vec![row("one", "", &[1234]), row("equal", "", &[1234; 100]), row("zero", "", &[0; 9])],
            }],
        ),
        plot(
            "Forty rows",
            "one for each setting of a scan",
            "latency",
            vec![Group {
                heading: String::new(),
                rows: (0..40)
                    .map(|i| row(&format!("+S {i}"), "", &random.latencies(500, 1e6 + 3e4 * f64::from(i), 3.0)))
                    .collect(),
            }],
        ),
    ]
}

fn distribution_figures(random: &mut Random) -> Vec<Box<dyn Figure>> {
    let sets = [
        ("idle", random.latencies(200_000, 7e3, 40.0)),
        ("memory load", random.latencies(200_000, 1.2e4, 90.0)),
        ("scheduler load", random.latencies(200_000, 2.6e4, 240.0)),
    ];
    let eight: Vec<(String, Vec<u64>)> = (0..8)
        .map(|i| {
            let (policy, load) = (["other", "fifo:80"][i / 2 % 2], ["idle", "load cpu+disk"][i / 4]);
            let (typical, tail) = ([5e4, 9e3][i / 2 % 2], [20.0, 200.0][i / 4]);
            (format!("policy {policy}, {load}, cpu{}", i % 2), random.latencies(3000, typical, tail))
        })
        .collect();
    let eight: Vec<(&str, Vec<u64>)> = eight.iter().map(|(label, samples)| (label.as_str(), samples.clone())).collect();
    let series = |sets: &[(&str, Vec<u64>)]| -> Vec<Series> {
        sets.iter()
            .map(|(label, samples)| Series {
                label: (*label).into(),
                buckets: buckets(samples),
                max: samples.iter().copied().max().unwrap_or(0),
                ..Series::default()
            })
            .collect()
    };
    let histogram = |title: &str, scale: Scale, series: Vec<Series>, limit| -> Box<dyn Figure> {
        Box::new(Histogram {
            title: title.into(),
            subtitle: "SCHED_FIFO 90, locked memory, period 1 ms, 200,000 samples each".into(),
            quantity: "latency".into(),
            unit: Unit::Nanoseconds,
            scale,
            series,
            limit,
        })
    };
    let cumulative = |title: &str, form: Form, limit| -> Box<dyn Figure> {
        Box::new(Cumulative {
            title: title.into(),
            subtitle: "the same samples".into(),
            quantity: "latency".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            form,
            curves: sets.iter().map(|(label, samples)| curve(label, samples)).collect(),
            limit,
        })
    };
    vec![
        histogram(
            "Wake-up latency by background load",
            Scale::Auto,
            series(&sets),
            Some(Limit { value: 1e6, name: "deadline 1 ms".into() }),
        ),
        histogram("Wake-up latency, eight series", Scale::Auto, series(&eight), None),
        histogram("Wake-up latency, idle, linear axis", Scale::Linear, series(&sets[..1]), None),
        cumulative("How many wake-ups come in time?", Form::Ordinary, None),
        cumulative(
            "How often is a latency exceeded?",
            Form::Tail,
            Some(Limit { value: 1e6, name: "deadline 1 ms".into() }),
        ),
    ]
}

fn trial_figures(random: &mut Random) -> Vec<Box<dyn Figure>> {
    let few: Vec<(f64, f64)> = (0..1500)
        .map(|i| {
            let drift = 4e4 * (f64::from(i) / 240.0).sin();
            (f64::from(i), 4.9e6 + drift + 3e4 * random.normal() + 9e5 * random.unit().powi(60))
        })
        .collect();
    let mut columns = |typical: f64, tail: f64| -> Vec<Column> {
        (0..700)
            .map(|i| {
                let mut samples = random.latencies(400, typical, tail);
                samples.sort_unstable();
                Column {
                    x: f64::from(i) * 14_286.0,
                    min: samples[0] as f64,
                    median: samples[200] as f64,
                    max: samples[399] as f64,
                }
            })
            .collect()
    };
    let worst = |samples: &Samples| -> Vec<Worst> {
        let mut all: Vec<(f64, f64)> = match samples {
            Samples::Points(points) => points.clone(),
            Samples::Columns(columns) => columns.iter().map(|c| (c.x, c.max)).collect(),
        };
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let when = |x: f64| format!("at 08:{:02}:{:02}.317", x as u64 / 60 % 60, x as u64 % 60);
        all[..3].iter().map(|(x, value)| Worst { x: *x, value: *value, bound: "", when: when(*x) }).collect()
    };
    let series = |label: &str, samples: Samples| trials::Series {
        label: label.into(),
        worst: worst(&samples),
        samples,
        ..trials::Series::default()
    };
    let many = columns(8e3, 300.0);
    let panels: Vec<trials::Series> = [("idle", 8e3, 40.0), ("network load", 1.4e4, 200.0)]
        .map(|(label, typical, tail)| series(label, Samples::Columns(columns(typical, tail))))
        .to_vec();
    let plot = |title: &str, subtitle: &str, series, limit| -> Box<dyn Figure> {
        Box::new(Trials {
            title: title.into(),
            subtitle: subtitle.into(),
            order: "sample".into(),
            order_unit: Unit::Count,
            quantity: "time".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            series,
            limit,
        })
    };
    let one = |samples| vec![series("", samples)];
    vec![
        plot("sum(4000), every trial", "1,500 samples", one(Samples::Points(few)), None),
        plot(
            "Ten million wake-ups in the order taken",
            "SCHED_FIFO 90",
            one(Samples::Columns(many)),
            Some(Limit { value: 1e6, name: "deadline 1 ms".into() }),
        ),
        plot("Wake-ups by load", "", panels, None),
    ]
}

fn time_figures(random: &mut Random) -> Vec<Box<dyn Figure>> {
    let mib = 1024.0 * 1024.0;
    let times: Vec<f64> = (0..240).map(|i| f64::from(i) * 1e8).collect();
    let ramp = |i: usize, from: f64, to: f64| from + (to - from) * (i / 40) as f64 / 5.0;
    let parts = [
        ("buffers", 60.0, 60.0),
        ("cached", 900.0, 880.0),
        ("slab", 180.0, 520.0),
        ("kernel", 210.0, 640.0),
        ("other", 700.0, 1100.0),
    ];
    let part = |(label, first, last): (&str, f64, f64)| Part {
        label: label.into(),
        sizes: vec![first * mib, last * mib],
        ..Part::default()
    };
    let used = |of: fn(&(&str, f64, f64)) -> f64| parts.iter().map(of).sum::<f64>();
    let free = part(("free", 24_000.0 - used(|p| p.1), 24_000.0 - used(|p| p.2)));
    let mut moved = |label: &str, from: f64, to: f64| Line {
        label: label.into(),
        points: (0..240).map(|i| (times[i], (ramp(i, 0.0, to - from) + 4.0 * random.normal()) * mib)).collect(),
        ..Line::default()
    };
    let mut against: Vec<Line> = parts.iter().map(|(label, from, to)| moved(label, *from, *to)).collect();
    against.push(Line { tone: Tone::Quiet, ..moved("free", 0.0, used(|p| p.1) - used(|p| p.2)) });
    let steps: Vec<Step> =
        (1..=5).map(|i| Step { at: f64::from(i) * 4e9, label: format!("{} groups", 1 << i) }).collect();
    let slabs = ["kmalloc-cg-1k", "task_struct", "skbuff_head_cache", "pid", "vm_area_struct"];
    let lines = slabs
        .iter()
        .enumerate()
        .map(|(k, name)| Line {
            label: (*name).into(),
            points: times
                .iter()
                .enumerate()
                .map(|(i, t)| (*t, 800.0 + ramp(i, 0.0, 9000.0 / (k as f64 * 0.9 + 1.0)) + 30.0 * random.normal()))
                .collect(),
            ..Line::default()
        })
        .collect();
    vec![
        Box::new(Composition {
            title: "Where the memory is".into(),
            subtitle: "groups of 20 senders and 20 receivers over socket pairs".into(),
            unit: Unit::Bytes,
            moments: vec!["idle".into(), "at the most".into()],
            parts: parts.into_iter().map(part).collect(),
            rest: Some(free),
            follow: true,
        }),
        Box::new(Lines {
            title: "Memory, against idle".into(),
            subtitle: String::new(),
            time: "time".into(),
            time_unit: Unit::Nanoseconds,
            quantity: "more than idle".into(),
            unit: Unit::Bytes,
            scale: Scale::Linear,
            lines: against,
            steps: steps.clone(),
        }),
        Box::new(Lines {
            title: "Slab caches that move".into(),
            subtitle: "active objects".into(),
            time: "time".into(),
            time_unit: Unit::Nanoseconds,
            quantity: "objects".into(),
            unit: Unit::Count,
            scale: Scale::Auto,
            lines,
            steps,
        }),
    ]
}

fn comparison_figures(random: &mut Random) -> Vec<Box<dyn Figure>> {
    let mut sweep = |label: &str, limit: f64| {
        let points = (1..=12)
            .map(|i| {
                let offered = f64::from(i) * 1e8;
                let achieved = offered.min(limit + 2e7 * random.normal());
                let loss = (1.0 - achieved / offered) * 100.0;
                let around = |v: f64, d: f64| Estimate { value: v, low: (v - d).max(0.0), high: v + d };
                rates::Point { offered, achieved: around(achieved, offered * 0.03), loss: around(loss, loss * 0.2) }
            })
            .collect();
        rates::Series { label: label.into(), points, ..rates::Series::default() }
    };
    let series = vec![sweep("loopback", 9.2e8), sweep("virtual Ethernet", 7.4e8), sweep("bridge", 5.1e8)];
    let row = |label: &str, sublabel: &str, value: f64, half: f64| ratios::Row {
        label: label.into(),
        sublabel: sublabel.into(),
        ratio: Some(Ratio { value, low: value / (1.0 + half), high: value * (1.0 + half) }),
    };
    vec![
        Box::new(Rates {
            title: "UDP: what arrives of what is offered".into(),
            subtitle: "datagrams of 1,024 bytes, 10 s a point, intervals at 95 %".into(),
            unit: Unit::BitsPerSecond,
            scale: Scale::Linear,
            series,
        }),
        Box::new(Ratios {
            title: "Agreement with the reference tools".into(),
            subtitle: "interleaved, 20 rounds, intervals at 95 %".into(),
            quantity: "our median over theirs".into(),
            band: (0.9, 1.1),
            rows: vec![
                row("wake-up", "cyclictest", 1.02, 0.03),
                row("message groups", "hackbench", 0.97, 0.05),
                row("pipe", "perf bench sched pipe", 1.08, 0.04),
                row("getppid", "perf bench syscall basic", 1.01, 0.01),
                row("UDP throughput", "iperf3", 1.24, 0.05),
                row("write + fsync", "fio", 0.93, 0.11),
                ratios::Row { label: "FIFO".into(), sublabel: "no reference tool".into(), ratio: None },
            ],
        }),
    ]
}

fn strips(random: &mut Random) -> String {
    let mut out = String::from("<table>");
    for (i, name) in ["getppid", "read 1 byte", "write 1 byte", "stat", "open + close"].iter().enumerate() {
        let row = row(name, "", &random.latencies(2000, 90.0 * (1.0 + i as f64), 20.0));
        let strip = Strip {
            label: row.label.clone(),
            unit: Unit::Nanoseconds,
            spread: row.spread,
            outliers: row.outliers,
            range: (50.0, 9000.0),
            scale: Scale::Log,
            tone: Tone::default(),
        };
        let median = row.spread.map_or(0.0, |s| s.median);
        out += &format!("<tr><td>{name}<td>{}<td>{}", Unit::Nanoseconds.value(median), strip.render());
    }
    out + "</table>"
}

fn terminal_samples(random: &mut Random) -> String {
    let rows = [("other", 5.2e4, 90.0), ("fifo 90", 8e3, 60.0)]
        .map(|(name, typical, tail)| row(name, "", &random.latencies(20_000, typical, tail)))
        .to_vec();
    let boxes = BoxPlot {
        title: "Wake-up latency".into(),
        subtitle: String::new(),
        quantity: "latency".into(),
        unit: Unit::Nanoseconds,
        scale: Scale::Auto,
        groups: vec![Group { heading: String::new(), rows }],
        limit: None,
    };
    let samples = random.latencies(200_000, 7e3, 40.0);
    let histogram = Histogram {
        title: "Wake-up latency".into(),
        subtitle: String::new(),
        quantity: "latency".into(),
        unit: Unit::Nanoseconds,
        scale: Scale::Auto,
        series: vec![Series {
            label: "idle".into(),
            buckets: buckets(&samples),
            max: samples.iter().copied().max().unwrap_or(0),
            ..Series::default()
        }],
        limit: None,
    };
    terminal::box_plot(&boxes, 100) + "\n" + &terminal::histogram(&histogram, 100)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::args().nth(1).ok_or("usage: gallery FOLDER")?);
    fs::create_dir_all(&folder)?;
    let random = &mut Random(42);
    let mut figures = box_figures(random);
    figures.extend(distribution_figures(random));
    figures.extend(trial_figures(random));
    figures.extend(time_figures(random));
    figures.extend(comparison_figures(random));

    palette::paint(&mut figures.iter_mut().map(|figure| &mut **figure as &mut dyn Figure).collect::<Vec<_>>());

    let mut page = format!(
        "<!doctype html><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>Gallery of figures</title><style>{}{}body{{background:var(--k-paper);color:var(--k-ink);\
         font:15px Helvetica,Arial,sans-serif;margin:16px auto;max-width:840px;padding:0 12px}}\
         section{{margin:0 0 44px}}td{{padding:1px 14px 1px 0}}pre{{overflow-x:auto;line-height:1.15}}</style>",
        theme::css(),
        theme::page_css()
    );
    for (i, figure) in figures.iter().enumerate() {
        page += &format!("<section>{}</section>", figure.both_widths());
        let name = format!("{:02}", i + 1);
        fs::write(folder.join(format!("{name}.svg")), theme::standalone(&figure.render(Width::WIDE)))?;
        fs::write(folder.join(format!("{name}.csv")), figure.csv())?;
    }
    let text = terminal_samples(random);
    page += &format!("<section>{}</section><pre>{text}</pre>", strips(random));
    fs::write(folder.join("gallery.html"), page)?;
    print!("{text}");
    Ok(())
}
