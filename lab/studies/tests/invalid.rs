//! Every study in tests/invalid is refused with exactly the problems that its first comment lines say, each at its place.

use std::fs;
use std::path::{Path, PathBuf};

use kizami_studies::Study;

/// What a file says of itself: `# line:column: message`, and `# file:line:column: message` for a file beside it.
fn expected(text: &str) -> Vec<String> {
    text.lines().map_while(|line| line.strip_prefix("# ")).map(str::to_owned).collect()
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let entries = fs::read_dir(&folder).expect("the folder of invalid studies");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

#[test]
fn each_is_refused_with_all_of_its_problems_where_they_are() {
    let cases = cases();
    assert!(cases.len() > 20, "only {} invalid studies", cases.len());
    let mut wrong = Vec::new();
    for file in cases {
        let text = fs::read_to_string(&file).expect("a study");
        let own = format!("{}:", file.display());
        let folder = format!("{}/", file.parent().unwrap_or(Path::new("")).display());
        let found: Vec<_> = match Study::parse(&text, &file) {
            Ok(_) => vec!["nothing was wrong".to_owned()],
            Err(problems) => problems
                .iter()
                .map(|p| p.to_string())
                .map(|p| p.strip_prefix(&own).map(str::to_owned).unwrap_or(p).replace(&folder, ""))
                .collect(),
        };
        if found != expected(&text) {
            wrong.push(format!("{}\n# {}\n", file.display(), found.join("\n# ")));
        }
    }
    assert!(wrong.is_empty(), "these say something else:\n{}", wrong.join("\n"));
}
