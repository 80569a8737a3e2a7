//! Malformed files of other tools: each is refused with the place and what was expected there.

use kizami_recording::formats::{self, Error};
use kizami_recording::stats::Beyond;
use proptest::prelude::*;

use crate::formats::{CYCLICTEST, CYCLICTEST_OVERFLOW, NERVES};
use crate::support::mutated;

const NERVES_NAME: &str = "rpi3-Base-Sum_normal-123456.csv";

#[test]
fn a_line_that_nerves_rt_perf_does_not_write_is_named() {
    let header = "count,time,heap_size,minor_gcs\r\n";
    for (text, line, expected) in [
        ("", Some(1), "the header is not count,time,heap_size,minor_gcs"),
        ("time\r\n1\r\n", Some(1), "the header is not"),
        ("count,heap_size,minor_gcs\r\n1,2,3\r\n", Some(1), "the header is not"),
        ("count,time,time,heap_size,minor_gcs\r\n1,2,3,4,5\r\n", Some(1), "the header is not"),
        ("count,time;x,heap_size,minor_gcs\r\n1,2,3,4\r\n", Some(1), "the header is not"),
        (header, None, "it has no row: nerves_rt_perf writes them all at the end"),
        (&format!("{header}1,532,2586\r\n"), Some(2), "it has 3 fields, and 4 were expected"),
        (&format!("{header}1,532,2586,3\r\n2,1,2,3,4\r\n"), Some(3), "it has 5 fields"),
        (&format!("{header}1,fast,2586,3\r\n"), Some(2), "time is \"fast\": a whole number was expected"),
        (&format!("{header}1,-5,2586,3\r\n"), Some(2), "time is \"-5\""),
        (&format!("{header}1,+5,2586,3\r\n"), Some(2), "time is \"+5\""),
        (&format!("{header}1,5.5,2586,3\r\n"), Some(2), "time is \"5.5\""),
        (&format!("{header}1,,2586,3\r\n"), Some(2), "time is \"\""),
        (&format!("{header}1,5,2586,\"3\"\r\n"), Some(2), "minor_gcs is \"\\\"3\\\"\""),
        (&format!("{header}1,99999999999999999999,1,1\r\n"), Some(2), "a whole number was expected"),
        (&format!("{header}1,18446744073709551615,1,1\r\n"), Some(2), "time is too large a time"),
        (&format!("{header}2,1,1,1\r\n"), Some(2), "count is 2, and 0 or 1 is the first: a row is missing"),
        (&format!("{header}1,1,1,1\r\n3,1,1,1\r\n"), Some(3), "count is 3, and 2 comes next"),
        (&format!("{header}1,1,1,1\r\n1,1,1,1\r\n"), Some(3), "count is 1, and 2 comes next"),
    ] {
        let error = formats::NERVES.import(text.as_bytes(), NERVES_NAME).expect_err(expected);
        assert_eq!((error.line, &error.file[..]), (line, NERVES_NAME), "{text:?}: {error}");
        assert!(error.why.contains(expected), "{text:?}: {error}");
    }
    let error = Error { file: "a.csv".into(), line: Some(3), why: "it is wrong".into() };
    assert_eq!(error.to_string(), "a.csv:3: it is wrong");
}

#[test]
fn line_ends_of_other_systems_are_no_difference() {
    let unix = formats::NERVES.import(NERVES.replace('\r', "").as_bytes(), NERVES_NAME).expect("a file");
    assert_eq!(unix, formats::NERVES.import(NERVES.as_bytes(), NERVES_NAME).expect("a file"));
}

#[test]
fn json_that_cyclictest_does_not_write_is_named() {
    let real = std::str::from_utf8(CYCLICTEST).expect("text");
    let first = real
        .lines()
        .find(|line| line.starts_with("        \"") && line.ends_with(": 1,"))
        .expect("a bucket with one sample");
    let (key, _) = first.trim().split_once(':').expect("a bucket");
    let bucket = |other: &str| real.replacen(first, other, 1);
    let at = real.lines().position(|line| line == first).expect("its line") as u64 + 1;
    let hostile = "{".repeat(1000);
    for (text, line, expected) in [
        (String::new(), Some(1), "EOF while parsing"),
        ("[]".to_owned(), Some(1), "what cyclictest writes with --json was expected"),
        (hostile, Some(1), "expected"),
        (real.replace("\"thread\"", "\"threads\""), Some(real.lines().count() as u64), "missing field `thread`"),
        (
            real.replace("\"file_version\": 1", "\"file_version\": 2"),
            None,
            "it has file_version 2, and 1 is understood",
        ),
        (real.replace("\"num_threads\": 2", "\"num_threads\": 3"), None, "num_threads is 3, and it has 2 threads"),
        (real.replace("\"resolution_in_ns\": 0", "\"resolution_in_ns\": 5"), None, "resolution_in_ns is 5"),
        (bucket("        \"ten\": 1,"), Some(at), "expected"),
        (bucket("        \"-10\": 1,"), Some(at), "expected"),
        (bucket(&format!("        {key}: -1,")), Some(at), "invalid value: integer `-1`"),
        (bucket(&format!("        {key}: 1.5,")), Some(at), "invalid type: floating point"),
        (bucket(&format!("        {key}: 1, {key}: 1,")), Some(at), "keys were expected to ascend"),
        (bucket(&format!("        {key}: 18446744073709551615,")), None, "more than its 300 cycles"),
        (bucket(&format!("        {key}: 301,")), None, "more than its 300 cycles"),
        (
            real.replacen("\"cycles\": 300", "\"cycles\": 18446744073709551615", 1),
            None,
            "up to 281474976710655 are taken",
        ),
    ] {
        let error = formats::CYCLICTEST.import(text.as_bytes(), "c.json").expect_err(expected);
        assert_eq!((error.line, &error.file[..]), (line, "c.json"), "{error}");
        assert!(error.why.contains(expected), "{expected}: {error}");
    }
    let last = "\"histogram\": { \"18446744073709551615\": 1 }, \"cycles\": 300, \"min\": 0, \"max\": 0, \"avg\": 0";
    let text = format!(
        "{{\"file_version\": 1, \"num_threads\": 1, \"resolution_in_ns\": 0, \"thread\": {{\"0\": {{{last}}}}}}}"
    );
    let error = formats::CYCLICTEST.import(text.as_bytes(), "c.json").expect_err("too large").to_string();
    assert!(error.contains("thread 0: 18446744073709551615 us is too large a time"), "{error}");
    // What a later version may add is no obstacle, nor is what was not asked for missed.
    let more = text.replace("18446744073709551615", "9").replacen('{', "{\"weather\": [1, {}], ", 1);
    let imported = formats::CYCLICTEST.import(more.as_bytes(), "c.json").expect("a file");
    assert_eq!(imported.series[0].beyond, Some(Beyond { limit: 9_999, count: 299, max: None }));
}

#[test]
fn impossible_dates_are_no_dates() {
    let real = std::str::from_utf8(CYCLICTEST).expect("text");
    let start = real.lines().find(|line| line.contains("start_time")).expect("a start");
    for (date, expected) in [
        ("Sat, 21 Nov 2026 22:24:05 +0000", "2026-11-21T22:24:05Z"),
        ("Sun, 1 Mar 2026 00:30:00 +0900", "2026-02-28T15:30:00Z"),
        ("Thu, 31 Dec 2026 23:30:00 -0100", "2027-01-01T00:30:00Z"),
        ("Fri, 31 Dec 9999 23:59:59 -2300", ""),
        ("Thu, 1 Jan 1970 00:00:00 +0100", ""),
        ("Thu, 99 Jan 2026 00:00:00 +0000", ""),
        ("Thu, 1 Jän 2026 00:00:00 +0000", ""),
        ("Thu, 1 Jan 2026 00:00:00 é", ""),
        ("Thu, 1 Jan 2026 00:00:00 +0", ""),
        ("yesterday", ""),
        ("", ""),
    ] {
        let text = real.replace(start, &format!("  \"start_time\": \"{date}\","));
        let imported = formats::CYCLICTEST.import(text.as_bytes(), "c.json").expect(date);
        assert_eq!(imported.series[0].started, expected, "{date}");
    }
}

/// Neither panics; who refuses says where.
fn try_both(bytes: &[u8], name: &str) {
    for result in [formats::NERVES.import(bytes, name), formats::CYCLICTEST.import(bytes, name)] {
        match result {
            Ok(imported) => assert!(!imported.series.is_empty()),
            Err(error) => assert!(!error.why.is_empty() && error.file == name),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn arbitrary_bytes_do_not_make_an_import_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), name in ".{0,60}") {
        try_both(&bytes, &name);
    }

    #[test]
    fn damaged_files_do_not_make_an_import_panic(
        bytes in prop_oneof![mutated(NERVES.as_bytes()), mutated(CYCLICTEST), mutated(CYCLICTEST_OVERFLOW)],
        name in "(rpi3|.{0,3})-(Base|GcFsa|Kizami|.{0,5})-[A-Za-z]{0,5}_.{0,12}-[0-9]{0,6}.csv",
    ) {
        try_both(&bytes, &name);
    }

    #[test]
    fn rows_of_nerves_come_in_as_they_are(rows in prop::collection::vec((0u64..1 << 50, 0u64..1 << 40, any::<u64>()), 1..50)) {
        let lines = rows.iter().enumerate().map(|(i, (time, heap, gcs))| format!("{},{time},{heap},{gcs}\r\n", i + 1));
        let text = format!("count,time,heap_size,minor_gcs\r\n{}", lines.collect::<String>());
        let imported = formats::NERVES.import(text.as_bytes(), NERVES_NAME).expect("a file");
        let expected: Vec<u64> = rows.iter().flat_map(|(time, heap, gcs)| [time * 1000, *heap, *gcs]).collect();
        prop_assert_eq!(&imported.series[0].rows, &kizami_recording::formats::Rows::Cells(expected));
    }
}
