//! Exercises of the course.

use serde_json::json;

use crate::page::Page;

#[test]
fn an_exercise_is_missed_as_it_is_shipped_and_met_by_its_solution() {
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
fn systems_are_listed_with_what_they_are() {
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
