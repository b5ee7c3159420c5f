//! How a mistake in a study's file is reported: at its key, in the terms of studies.

use npsim_lab::study::Study;
use npsim_testkit::mistakes;

/// Wrong studies, each after a line `=== what is wrong` and followed, after a line `---`, by the
/// messages about it. `REST` stands for a valid study.
const LISTED_MISTAKES: &str = include_str!("mistakes.txt");

const REST: &str = r#"name = "s"
title = "A study"
[window]
measure = "1ms"
[metric.rate]
measure = "egress-rate"
[sweep.a]
system = "microcode/forward"
"#;

fn mistake(text: &str) -> String {
    match Study::parse("s.toml", text) {
        Ok(_) => "no mistake".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn template_study_is_valid() {
    assert_eq!(mistake(REST), "no mistake");
}

#[test]
fn mistakes_give_the_listed_messages() {
    let file = (env!("CARGO_MANIFEST_DIR"), "tests/lab/mistakes.txt");
    mistakes::check(LISTED_MISTAKES, file, &|typed| {
        mistake(&typed.replace("REST\n", REST))
    });
    // None of the messages uses the wording of the TOML parser.
    for own in ["expected", "invalid", "field", "untagged"] {
        assert!(!LISTED_MISTAKES.contains(own), "{own}");
    }
}
