//! The short form of `./x bench trust`: fewer and shorter series, and bounds that allow for that.

use std::path::PathBuf;

use kizami_trust::{Scope, judge};

/// The command, which cargo puts above the folder of this test.
fn kizami() -> PathBuf {
    let own = std::env::current_exe().expect("this program's path");
    let kizami = own.parent().and_then(|deps| deps.parent()).expect("the target folder").join("kizami");
    assert!(kizami.is_file(), "{} is not there: cargo build -p kizami", kizami.display());
    kizami
}

#[test]
fn statements_of_simulated_series_are_as_often_true_as_they_say() {
    let scope = Scope { repeats: 60, seed: 1, largest: 2000, errors: 3.0 };
    let judged = judge(&kizami(), &scope, &|_, _| ()).expect("the command works");
    assert!(judged.missed.is_empty(), "{:#?}\n{}", judged.missed, judged.table);
    assert!(judged.statements > 80, "{}", judged.statements);
}
