//! Studies that are refused, and the messages.

use crate::study::Study;

const GOOD: &str = r#"
name = "s"
title = "t"
[window]
warm_up = "10us"
measure = "20us"
[metric.rate]
measure = "egress-rate"
[sweep.a]
system = "x"
[[sweep.a.axis]]
name = "load"
key = "load.rate"
values = ["1Mpps", "2Mpps", "3Mpps"]
quick = [1, 3]
[[sweep.a.axis]]
name = "mes"
key = "me.p.id"
values = ["4", "4-5"]
x = [1, 2]
[[published]]
id = "H-1"
what = "w"
source = "s"
evidence = "text"
value = 1.0
tolerance = "5%"
measured = { is = "at", of = { of = "a.rate", where = { mes = 2 } }, x = 3 }
[[figure]]
name = "f"
title = "f"
curve = [{ of = "a.rate", where = { mes = "4" } }]
mark = [{ id = "H-1", x = 3 }]
"#;

fn message(from: &str, to: &str) -> String {
    let text = GOOD.replacen(from, to, 1);
    assert_ne!(text, GOOD, "{from}");
    Study::parse("s.toml", &text).expect_err(to).to_string()
}

#[test]
fn study_mistakes_are_refused() {
    Study::parse("s.toml", GOOD).unwrap();
    for (from, to, expected) in [
        (
            "name = \"s\"",
            "name = \"a/b\"",
            "is not valid for a folder",
        ),
        ("\"10us\"", "\"10\"\nmesure = \"1us\"", "mesure"),
        ("\"10us\"", "\"10m\"", "unit of time"),
        (
            "\"egress-rate\"",
            "\"egress\"",
            "`measure` cannot be \"egress\"",
        ),
        (
            "system = \"x\"",
            "system = \"x\"\nmetrics = [\"rat\"]",
            "did you mean `rate`?",
        ),
        ("quick = [1, 3]", "quick = [1, 4]", "`quick` has 4"),
        (
            "quick = [1, 3]",
            "quick = [1, 2]",
            "`quick` of axis `load` lacks 3",
        ),
        ("x = [1, 2]", "x = [1]", "2 values and 1 places"),
        ("x = [1, 2]", "x = [4, 4]", "lie at the same place 4"),
        ("x = [1, 2]", "", "give the places with `x`"),
        ("name = \"mes\"", "name = \"load\"", "two axes"),
        ("key = \"me.p.id\"", "key = \"me..id\"", "not a path"),
        ("key = \"me.p.id\"\n", "", "either `key` and `values`"),
        (
            "of = \"a.rate\", where = { mes = 2 }",
            "of = \"b.rate\"",
            "there is no sweep `b`",
        ),
        (
            "of = \"a.rate\", where = { mes = 2 }",
            "of = \"a.rat\"",
            "measures no `rat`",
        ),
        (
            "where = { mes = 2 }",
            "where = { }",
            "needs a value of axis `mes`",
        ),
        ("where = { mes = 2 }", "where = { mes = 3 }", "has no `3`"),
        (
            "where = { mes = 2 }",
            "where = { mes = 2, load = 1 }",
            "no axis `load` besides",
        ),
        ("}, x = 3 }", "}, x = 5 }", "no point at 5"),
        ("tolerance = \"5%\"\n", "", "needs a `tolerance`"),
        (
            "value = 1.0\ntolerance = \"5%\"\n",
            "",
            "either `measured` and one of",
        ),
        (
            "{ id = \"H-1\", x = 3 }",
            "{ id = \"H-2\", x = 3 }",
            "no published value is `H-2`",
        ),
    ] {
        let message = message(from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(message.contains("s.toml"), "{message}");
    }
}

#[test]
fn shape_keys_are_checked() {
    let shape = |text: &str| {
        let row = format!("shape = {text}\nstated = \"x\"\n");
        let start = GOOD.find("value = 1.0").unwrap();
        let end = GOOD.find("[[figure]]").unwrap();
        let study = format!("{}{row}{}", &GOOD[..start], &GOOD[end..])
            .replace("mark = [{ id = \"H-1\", x = 3 }]", "");
        Study::parse("s.toml", &study).map_err(|problem| problem.to_string())
    };
    let cut = "{ of = \"a.rate\", where = { mes = 1 } }";
    shape(&format!(
        "{{ is = \"flat\", of = {cut}, within = 0.1, from = 2 }}"
    ))
    .unwrap();
    shape(&format!(
        "{{ is = \"order\", of = [{cut}, {cut}], margin = 0.1 }}"
    ))
    .unwrap();
    for (text, expected) in [
        (
            format!("{{ is = \"order\", of = {cut} }}"),
            "about several curves",
        ),
        (
            format!("{{ is = \"flat\", of = {cut}, margin = 1.0 }}"),
            "`flat` has `within`",
        ),
        (
            format!("{{ is = \"flat\", of = {cut}, wihtin = 1.0 }}"),
            "wihtin",
        ),
    ] {
        let message = shape(&text).unwrap_err();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn non_finite_and_degenerate_numbers_are_refused() {
    for (from, to, expected) in [
        ("x = [1, 2]", "x = [1, nan]", "lies at NaN"),
        ("x = [1, 2]", "x = [-1e308, 1e308]", "lies at"),
        ("value = 1.0", "value = inf", "inf is not a value"),
        (
            "title = \"f\"",
            "title = \"f\"\nx = { from = nan }",
            "the scale `x` goes from NaN",
        ),
        (
            "title = \"f\"",
            "title = \"f\"\ny = { from = 3.0, to = 2.0 }",
            "the scale `y` goes from 3 to 2",
        ),
        ("\"20us\"", "\"0us\"", "of no time"),
        (
            "[\"1Mpps\", \"2Mpps\", \"3Mpps\"]",
            "[]",
            "`values` has no value",
        ),
    ] {
        let message = message(from, to);
        assert!(message.contains(expected), "{to}: {message}");
    }
}

#[test]
fn oversized_sweep_is_refused_before_expansion() {
    let many: Vec<String> = (0..1000).map(|n| format!("\"{n}\"")).collect();
    let axis = |name: &str| {
        format!(
            "[[sweep.a.axis]]\nname = \"{name}\"\nkey = \"define.{name}\"\nvalues = [{}]\n",
            many.join(", ")
        )
    };
    let axes = format!("{}{}[[published]]", axis("A"), axis("B"));
    let message = message("[[published]]", &axes);
    assert!(message.contains("more points than 100000"), "{message}");
}

#[test]
fn names_that_escape_the_results_folder_are_refused() {
    let drawn = &GOOD[..GOOD.find("[[published]]").expect("it")];
    assert!(Study::parse("s.toml", drawn).is_ok());
    for (from, to) in [
        ("[metric.rate]", "[metric.\"/../../rate\"]"),
        ("[metric.rate]", "[metric.'a\\b']"),
    ] {
        let error = Study::parse("s.toml", &drawn.replace(from, to)).expect_err(to);
        assert!(error.message.contains("cannot be a file name"), "{error}");
    }
}
