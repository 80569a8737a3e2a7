//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use kizami_recording::folder::Requirement;
use kizami_recording::quantity::Quantity;
use kizami_studies::Size;

/// How real-time is this machine? Measure it, and show it.
#[derive(Debug, Parser)]
#[command(name = "kizami", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  kizami doctor                         what stands between this machine and real-time behaviour
  kizami run                            the studies linux and nerves in about three minutes, with a report
  kizami run wakeup --set policy=other,fifo:80 --load none,cpu
  kizami show                           the newest recording as tables
  kizami compare A B                    ratios with intervals, and which differences are supported

Exit status: 0 done · 1 failed · 2 wrong usage · 3 some trials failed · 4 recording damaged · 5 a bound was missed ·
75 another run is measuring · 130 interrupted (what was measured until then is kept)")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// Write the result to standard output as JSON
    #[arg(long, global = true)]
    pub json: bool,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What can be measured: studies, workloads, environments, settings and loads
    List(List),
    /// What stands between this machine and real-time behaviour, with the commands that change it
    Doctor(Doctor),
    /// Measure a study or a workload, and write a recording with a report
    Run(Run),
    /// Write the report of a recording again
    Report(ReportArgs),
    /// Show a recording as tables
    Show(Show),
    /// Whether a periodic task would meet its deadline, in each environment and under each setting of a recording
    Decide(Decide),
    /// Compare series, or two recordings: ratios with intervals, and whether the difference is supported
    Compare(Compare),
    /// Write samples, figures or tables in other formats
    Export(Export),
    /// Read another tool's samples into a recording
    Import(Import),
    /// Run one comparison and hold it to its bounds
    Bench(Bench),
    /// Print the completions for a shell
    Completions { shell: clap_complete::Shell },
    /// Restores settings when the run that changed them is gone; started by `run`
    #[command(hide = true, name = GUARD)]
    Guard { journal: PathBuf },
}

/// The hidden command that restores settings.
pub const GUARD: &str = "restore-guard";

#[derive(Debug, Args)]
pub struct List {
    /// Tell everything about this study, workload, environment, setting or load
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Leave out the second of listening to the neighbours
    #[arg(long)]
    pub quick: bool,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Studies (names or TOML files) or workloads
    #[arg(value_name = "STUDY|WORKLOAD", default_values = ["linux", "nerves"], value_hint = ValueHint::FilePath)]
    pub what: Vec<String>,

    #[command(flatten)]
    pub options: RunOptions,
}

#[derive(Debug, Args, Clone, Default)]
pub struct RunOptions {
    /// Sizes that give an impression in minutes (the default)
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// The published sizes: minutes to hours
    #[arg(long)]
    pub full: bool,

    /// Set a parameter or a setting; several values, separated by commas, are all measured
    #[arg(long = "set", value_name = "NAME=VALUE[,VALUE…]", value_parser = parse_set)]
    pub set: Vec<(String, Vec<String>)>,

    /// Put background loads under the work: cpu, memory, network, disk, scheduler; joined by + when together
    #[arg(long, value_name = "LOAD[,LOAD…]", value_delimiter = ',')]
    pub load: Vec<String>,

    /// Where a workload runs; or a study instead of where it says, as far as it is done there
    #[arg(long, value_name = "ENVIRONMENT", value_delimiter = ',')]
    pub environment: Vec<String>,

    /// Fresh starts of each workload; no more than these, also where a comparison stays open
    #[arg(long, value_name = "N", value_parser = parse_trials)]
    pub trials: Option<usize>,

    /// The seed of the order and of the intervals; the same seed gives the same order
    #[arg(long)]
    pub seed: Option<u64>,

    /// The folder to make for the recording
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// Wait while another run measures, where this would otherwise end
    #[arg(long)]
    pub wait: bool,

    /// Show what would run, and for how long, without running it
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub required: Required,
}

impl RunOptions {
    pub fn size(&self) -> Size {
        if self.full { Size::Full } else { Size::Quick }
    }
}

/// What wake-ups are held to.
#[derive(Debug, Args, Clone, Default)]
pub struct Required {
    /// Decide, in the report, whether wake-ups are later than this, such as 200us; their figures show it as a line
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub deadline: Option<u64>,

    /// The largest share of wake-ups that may be later [default: 1e-6]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, requires = "deadline")]
    pub miss: Option<f64>,
}

impl Required {
    /// `None` where nothing is asked.
    pub fn requirement(&self) -> Option<Requirement> {
        let deadline = self.deadline?;
        Some(Requirement { deadline, miss: self.miss.unwrap_or(Requirement::MISS) })
    }
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The recording's folder; the newest in ./recordings when left out
    #[arg(value_hint = ValueHint::DirPath)]
    pub recording: Option<PathBuf>,
    /// The file to write; report.html in the recording when left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub required: Required,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The recording's folder; the newest in ./recordings when left out
    #[arg(value_hint = ValueHint::DirPath)]
    pub recording: Option<PathBuf>,
    /// Only series whose name contains this; with a single one, everything about it
    #[arg(long, value_name = "TEXT")]
    pub series: Option<String>,
    /// How often is this deadline missed? For example 100us
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// A recording, or a series as RECORDING:SERIES (or only SERIES, of the newest recording)
    #[arg(value_hint = ValueHint::DirPath)]
    pub a: OsString,
    /// The same
    #[arg(value_hint = ValueHint::DirPath)]
    pub b: OsString,
    /// What is compared: of each start, by its rank among the starts. The least time (min) is that of a path without what
    /// disturbs it, and asks for starts with as many samples
    #[arg(long, value_name = "STATISTIC", default_value = "median")]
    pub measure: Measure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Measure {
    Median,
    Mean,
    P99,
    Min,
    Max,
}

#[derive(Debug, Args)]
pub struct Export {
    /// The format
    pub format: Format,
    /// The recording's folder; the newest in ./recordings when left out
    #[arg(value_hint = ValueHint::DirPath)]
    pub recording: Option<PathBuf>,
    /// Only series whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub series: Option<String>,
    /// The folder to write into
    #[arg(long, value_name = "FOLDER", default_value = ".", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Every sample, one file a series
    Csv,
    /// Rows as nerves_rt_perf writes them: count,time,heap_size,minor_gcs, in microseconds
    Nerves,
    /// cyclictest's --json, with a histogram in microseconds
    Cyclictest,
    /// Every figure of the report, as SVG and CSV
    Figures,
    /// Every summary
    Summary,
}

#[derive(Debug, Args)]
pub struct Import {
    /// What wrote it
    pub format: ImportFormat,
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The folder to make for the recording
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ImportFormat {
    /// CSV as nerves_rt_perf writes it
    Nerves,
    /// cyclictest's --json
    Cyclictest,
    /// oslat's --json
    Oslat,
    /// jitterdebugger's results.json
    Jitterdebugger,
    /// The text of a histogram: cyclictest's -h, rtla's timerlat hist and osnoise hist
    Histogram,
    /// hyperfine's --export-json
    Hyperfine,
    /// fio's --output-format=json+
    Fio,
}

#[derive(Debug, Args)]
pub struct Decide {
    /// A recording with wake-ups of that period; the newest if left out
    #[arg(value_hint = ValueHint::DirPath)]
    pub recording: Option<PathBuf>,

    /// The period of the task
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub period: u64,

    /// How late a wake-up may be; take off the time that the task itself needs
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub deadline: u64,

    /// The largest share of wake-ups that may be later
    #[arg(long, value_name = "SHARE", default_value = "1e-6", value_parser = parse_share)]
    pub miss: f64,
}

#[derive(Debug, Args)]
pub struct Bench {
    /// Its name; `kizami list` tells them
    pub name: String,
    #[command(flatten)]
    pub options: RunOptions,
}

/// Nanoseconds, and not 0.
fn parse_time(text: &str) -> Result<u64, String> {
    match Quantity::Time.parse(text)? {
        0 => Err("it has to be longer than nothing".into()),
        time => Ok(time),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("it is not a share between 0 and 1, such as 1e-6 or 0.001".into()),
    }
}

fn parse_trials(text: &str) -> Result<usize, String> {
    let trials: usize = text.parse().map_err(|_| "it is not a whole number of fresh starts".to_owned())?;
    if trials == 0 { Err("without a fresh start nothing is measured: at least 1 is needed".into()) } else { Ok(trials) }
}

fn parse_set(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = text.split_once('=').ok_or("it is not of the form NAME=VALUE, such as policy=fifo:80")?;
    if name.is_empty() || values.is_empty() {
        return Err("a name and a value are needed, such as policy=fifo:80".into());
    }
    let setting = kizami_settings::find(name);
    let separator = setting.map_or(',', |setting| setting.separator());
    let values: Vec<String> = values.split(separator).map(|v| v.trim().to_owned()).collect();
    // No value has an equals sign, where a comma stands between values.
    if separator != ',' {
        return Ok((name.to_owned(), values));
    }
    match values.iter().find(|value| value.contains('=')) {
        Some(another) => Err(format!("a comma stands between values of {name}; {another} needs a --set of its own")),
        None => Ok((name.to_owned(), values)),
    }
}

/// The command line as it was given, as far as it is text.
pub fn as_given() -> Vec<String> {
    std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn several_values_of_a_setting_are_told_apart() {
        assert_eq!(parse_set("policy=other, fifo:80"), Ok(("policy".into(), vec!["other".into(), "fifo:80".into()])));
        let words = "kernel_args=isolcpus=1,2 preempt=full; preempt=none";
        let words_of = vec!["isolcpus=1,2 preempt=full".to_owned(), "preempt=none".into()];
        assert_eq!(parse_set(words), Ok(("kernel_args".into(), words_of)));
        assert!(parse_set("policy").is_err());
        assert!(parse_set("=1").is_err());
        let two = parse_set("wait=poll,duration=1s").expect_err("two in one");
        assert_eq!(two, "a comma stands between values of wait; duration=1s needs a --set of its own");
    }
}
