//! Exercises of the course.

use serde_json::json;

use crate::page::Page;

#[test]
fn exercise_fails_as_shipped_and_passes_with_its_solution() {
    let mut page = Page::shipped();
    let missed = page.ask(&json!({ "op": "exercise", "target": "/microcode/course/one-reader" }));
    assert_eq!(missed["passed"], false, "{missed}");
    let goals = missed["goals"].as_array().unwrap();
    let goal = goals.iter().find(|it| it["passed"] == false).unwrap();
    assert!(!goal["hint"].as_str().unwrap().is_empty());
    assert!(!goal["bounds_text"].as_str().unwrap().is_empty());
    let solution = "/microcode/course/solutions/one-reader";
    let met = page.ask(&json!({ "op": "exercise", "target": solution }));
    assert_eq!(met["passed"], true, "{met}");
    let said = page.refused(&json!({ "op": "exercise", "target": "/microcode/forward" }));
    assert!(said.contains("has no goals"), "{said}");
}

#[test]
fn systems_are_listed_with_exercises_marked() {
    let mut page = Page::shipped();
    let list = page.ask(&json!({ "op": "systems" }));
    let systems = list["systems"].as_array().unwrap();
    let find = |target: &str| systems.iter().find(|it| it["target"] == target);
    assert_eq!(
        find("/microcode/router/npsim.toml").unwrap()["exercise"],
        false
    );
    assert_eq!(
        find("/microcode/course/one-reader/npsim.toml").unwrap()["exercise"],
        true
    );
    assert!(find("/microcode/Cargo.toml").is_none());
}

#[test]
fn race_is_reported_with_contexts_cycles_and_places() {
    let mut page = Page::shipped();
    let missed =
        page.ask(&json!({ "op": "exercise", "target": "/microcode/course/lost-additions" }));
    let race = &missed["race"];
    assert!(
        race["message"]
            .as_str()
            .unwrap()
            .contains("updated by two contexts"),
        "{race}"
    );
    let places = |verb: &str, line: u32| {
        let notes = race["notes"].as_array().unwrap().iter();
        let text = notes.filter_map(|it| it.as_str());
        text.filter(|it| {
            let ends =
                it.ends_with(&format!("add.uc:{line}")) || it.contains(&format!("add.uc:{line}:"));
            it.starts_with(verb) && it.contains(" context ") && it.contains(" at cycle ") && ends
        })
        .count()
    };
    assert_eq!(
        (places("read by ME", 18), places("written by ME", 21)),
        (2, 1),
        "{race}"
    );
    assert_eq!(places("found in ME", 21), 1, "{race}");
}
