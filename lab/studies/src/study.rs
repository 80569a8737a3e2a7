//! A study, the evaluation of a paper as data: the groups to run, the published figures, and the claims.

use std::path::Path;

use kizami_environments::Environment;
use kizami_recording::folder::{Requirement, Series};
use kizami_recording::foreign::read_text;
use kizami_recording::quantity::Quantity;
use kizami_workloads::Workload;
use toml::de::DeTable;

use crate::claim::Claim;
use crate::group::{Defaults, Group, is_plain};
use crate::limits::{MOST_DOUBLINGS, MOST_STARTS};
use crate::problem::{Problem, nearest};
use crate::published::{self, Published};
use crate::reach::{Reach, read_environments};
use crate::tree::{Source, Table, shown};
use crate::words::{Size, Word};

/// A longer file is no study, and no table of a paper.
const MOST_TEXT: u64 = 16 << 20;

/// A study that was read and checked: every cell of every group can be planned.
#[derive(Debug, Clone)]
pub struct Study {
    /// Lower case, words joined by hyphens.
    pub name: String,
    pub title: String,
    /// The paper as one would cite it; empty for a study of the project's own.
    pub paper: String,
    pub about: String,
    /// What its wake-ups are held to, if anything.
    pub requirement: Option<Requirement>,
    /// How often the rounds of comparisons that are left open are doubled, at the most.
    pub doublings: usize,
    pub groups: Vec<Group>,
    pub claims: Vec<Claim>,
    pub published: Vec<Published>,
    /// The file as it was read; empty for a single workload. Where other environments than its own were asked for, it says so.
    pub text: String,
    /// The published table as it was read: its file's name, and its text. Beside the text of the study, it is what a
    /// copy needs.
    pub data: Option<(String, String)>,
}

/// A file that came with the program.
struct Embedded {
    name: &'static str,
    text: &'static str,
    data: &'static str,
}

macro_rules! embedded {
    ($($name:literal $(with $data:literal)?),* $(,)?) => {
        &[$(Embedded {
            name: $name,
            text: include_str!(concat!("../", $name, ".toml")),
            data: concat!($(include_str!(concat!("../", $data)))?),
        }),*]
    };
}

/// The studies that came with the program, in the order in which they are listed to users. A new one is its file and a
/// line here.
static BUILTIN: &[Embedded] = embedded!["linux" with "linux.csv", "nerves" with "nerves.csv", "crosscheck", "actors", "rtos", "environments", "storage" with "storage.csv", "node" with "node.csv"];

/// The names of the built-in studies, in the order in which they are listed to users.
pub fn builtin() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|e| e.name)
}

impl Study {
    /// Reads the study in `text`; `file` is its path, which messages name and beside which its data are.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Vec<Problem>> {
        let beside = |name: &str| {
            let path = file.with_file_name(name);
            read_text(&path, MOST_TEXT).map_err(|e| format!("{} cannot be read: {e}", path.display()))
        };
        Self::parse_with(text, &shown(file), &beside)
    }

    /// The built-in study of that name, or the file at that path.
    ///
    /// # Errors
    /// When there is neither, or with everything that is wrong with the file.
    pub fn load(name_or_path: &str) -> Result<Self, Vec<Problem>> {
        if let Some(embedded) = BUILTIN.iter().find(|e| e.name == name_or_path) {
            let file = format!("{}.toml", embedded.name);
            return Self::parse_with(embedded.text, &file, &|_| Ok(embedded.data.to_owned()));
        }
        let path = Path::new(name_or_path);
        let is_path = name_or_path.contains('/') || path.extension().is_some_and(|e| e == "toml") || path.is_file();
        if !is_path {
            // Who runs a workload by its name gets a study of it, so its name may be meant as well.
            let studies: Vec<_> = builtin().collect();
            let names: Vec<_> = studies.iter().copied().chain(kizami_workloads::ALL.iter().map(|w| w.name)).collect();
            let suggestion = match nearest(name_or_path, &names) {
                Some(name) => format!("did you mean {name:?}?"),
                None => format!("there are {}, and any file that ends in .toml", studies.join(", ")),
            };
            return Err(vec![Problem::of_file(name_or_path, "there is no such study".into(), suggestion)]);
        }
        Self::read(path)
    }

    /// The same study with every group in `environments`, and not in its own.
    ///
    /// # Errors
    /// When the study says already where it runs, or with everything that is wrong with it there.
    pub fn elsewhere(self, environments: &[String]) -> Result<Self, Vec<Problem>> {
        let names: Vec<String> = environments.iter().map(|name| format!("{name:?}")).collect();
        // What comes before the first table belongs to the study itself.
        let text = format!("environments = [{}]\n{}", names.join(", "), self.text);
        let (file, data) = (format!("{}.toml", self.name), self.data);
        Self::parse_with(&text, &file, &|_| Ok(data.as_ref().map_or_else(String::new, |(_, text)| text.clone())))
    }

    /// The study in the file `path`, whose name may be anything.
    ///
    /// # Errors
    /// When it cannot be read, or with everything that is wrong with it.
    pub fn read(path: &Path) -> Result<Self, Vec<Problem>> {
        let text = read_text(path, MOST_TEXT).map_err(|e| {
            let message = format!("the study cannot be read: {e}");
            vec![Problem::of_file(&shown(path), message, "see docs/studies.md for what belongs in it".into())]
        })?;
        Self::parse(&text, path)
    }

    /// A study of one workload in one environment, which is what running a workload by its name is.
    pub fn of_workload(workload: &'static Workload, environment: &'static dyn Environment, trials: usize) -> Self {
        Self {
            name: workload.name.to_owned(),
            title: workload.title.to_owned(),
            paper: String::new(),
            about: workload.about.to_owned(),
            requirement: None,
            doublings: 0,
            groups: vec![Group::of(workload, environment, trials)],
            claims: Vec::new(),
            published: Vec::new(),
            text: String::new(),
            data: None,
        }
    }

    /// What is not measured in that size since the environments that it was moved to do not do it: a sentence for each reason.
    pub fn left_out(&self, size: Size) -> Vec<String> {
        let mut sentences = Vec::new();
        for sentence in self.groups.iter().filter(|group| group.trials(size) > 0).flat_map(|group| group.left_out(size))
        {
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences
    }

    pub fn group(&self, id: &str) -> Option<&Group> {
        self.groups.iter().find(|g| g.id == id)
    }

    /// What was published that is to stand beside `series` in `group`.
    pub fn published_for<'a>(&'a self, group: &'a Group, series: &'a Series) -> impl Iterator<Item = &'a Published> {
        self.published.iter().filter(move |p| p.group == group.id && p.matches(series))
    }

    /// What was published about `group`.
    pub fn published_of<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a Published> {
        self.published.iter().filter(move |p| p.group == group.id)
    }

    fn parse_with(text: &str, file: &str, data: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, Vec<Problem>> {
        let source = Source::new(file, text);
        let (tree, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            // What a broken file would mean is guesswork.
            errors.iter().for_each(|e| source.wrong(e.span().map_or(0, |s| s.start), e.message()));
            return Err(source.into_problems());
        }
        let study = read(&source, &tree, data);
        match (study, source.into_problems()) {
            (Some(study), problems) if problems.is_empty() => Ok(study),
            (_, problems) => Err(problems),
        }
    }
}

fn read(
    source: &Source<'_>,
    tree: &toml::Spanned<DeTable<'_>>,
    data: &dyn Fn(&str) -> Result<String, String>,
) -> Option<Study> {
    let table = Table::open(source, tree, "a study");
    let table = table.only(&[
        "name",
        "title",
        "paper",
        "about",
        "environments",
        "published",
        "requirement",
        "doublings",
        "quick",
        "full",
        "group",
        "claim",
    ]);
    let name = table.required("name").filter(|name| is_plain(source, name));
    let title = table.required("title");
    let tables = table.tables("group");
    if tables.is_empty() && table.get("group").is_none() {
        source.wrong(table.at, "a study needs at least one [[group]]");
    }

    // The defaults of a size may name parameters of every workload of the study.
    let workloads: Vec<_> =
        tables.iter().flat_map(|t| t.strings("workloads")).filter_map(|w| kizami_workloads::find(&w.value)).collect();
    let sizes: Vec<_> = Size::ALL.iter().map(|size| read_defaults(&table, *size, &workloads)).collect();
    let [quick, full] = &sizes[..] else { return None };

    let ids: Vec<_> = tables.iter().filter_map(|t| t.string("id")).collect();
    for (index, id) in ids.iter().enumerate() {
        if ids[..index].iter().any(|before| before.value == id.value) {
            source.wrong(id.at, format!("there is another group {:?} before this", id.value));
        }
    }
    let mut groups: Vec<_> = tables.into_iter().filter_map(|table| Group::read(table, [quick, full])).collect();
    let elsewhere = table.get("environments").is_some().then(|| read_environments(&table, "environments").0);
    // What is said about a group that is wrong itself would only be told as unknown.
    let known = source.is_fine().then_some(&groups[..]);
    let study = name.as_ref().map_or("", |name| &name.value);
    let doublings = table.count("doublings", 0, MOST_DOUBLINGS).map_or(0, |doublings| doublings.value);
    let claims = table.tables("claim");
    let claims = claims.into_iter().filter_map(|t| Claim::read(t, study, known, elsewhere.as_deref(), 1 + doublings));
    let claims = claims.collect();
    let published = known.and_then(|groups| read_published(&table, data, study, groups));
    // What the study says was checked for its own environments; elsewhere, what is not possible is left out.
    for group in groups.iter_mut() {
        group.move_to(elsewhere.as_deref());
    }
    let (data, published) = published.unzip();
    let requirement = read_requirement(&table);
    Some(Study {
        name: name?.value,
        title: title?.value,
        paper: table.string("paper").map(|p| p.value).unwrap_or_default(),
        about: table.string("about").map(|a| a.value).unwrap_or_default(),
        requirement,
        doublings,
        groups,
        claims,
        published: published.unwrap_or_default(),
        text: source.text.to_owned(),
        data,
    })
}

fn read_requirement(table: &Table<'_, '_>) -> Option<Requirement> {
    let table = table.table("requirement", "[requirement]")?.only(&["deadline", "miss"]);
    let miss = table.number("miss");
    let text = table.required("deadline")?;
    let deadline = match Quantity::Time.parse(&text.value) {
        Ok(deadline) => deadline,
        Err(why) => {
            table.source.wrong(text.at, format!("deadline: {why}"));
            return None;
        }
    };
    let requirement = Requirement { deadline, miss: miss.as_ref().map_or(Requirement::MISS, |miss| miss.value) };
    if !requirement.is_possible() {
        let at = miss.map_or(text.at, |miss| miss.at);
        table
            .source
            .wrong(at, "a deadline is longer than nothing, and a share of misses between 0 and 1, such as 1e-6");
        return None;
    }
    Some(requirement)
}

fn read_defaults(table: &Table<'_, '_>, size: Size, workloads: &[&'static Workload]) -> Defaults {
    let Some(table) = table.table(size.name(), format!("[{size}]")) else { return Defaults::default() };
    let table = table.only(&["trials", "params"]);
    let reach = Reach { workloads, environments: &[] };
    Defaults {
        trials: table.count("trials", 0, MOST_STARTS).map(|trials| trials.value),
        params: table.table("params", "params").map(|t| reach.read_params(&t)).unwrap_or_default(),
    }
}

type Data = ((String, String), Vec<Published>);

fn read_published(
    table: &Table<'_, '_>,
    data: &dyn Fn(&str) -> Result<String, String>,
    study: &str,
    groups: &[Group],
) -> Option<Data> {
    let source = table.source;
    let name = table.string("published")?;
    if name.value.contains('/') || name.value.is_empty() {
        source.wrong(name.at, "published is the name of a file that lies beside the study");
        return None;
    }
    match data(&name.value) {
        Ok(text) => {
            let file = Path::new(source.file).with_file_name(&name.value);
            let published = published::read(source, &shown(&file), &text, study, groups);
            Some(((name.value, text), published))
        }
        Err(why) => {
            source.wrong(name.at, why);
            None
        }
    }
}
