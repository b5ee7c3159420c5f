//! Contents of a study other than curves and values: ratios, code counts, models, tables, bounds,
//! and that its chip did not change.

use npsim_lab::curves::samples;
use npsim_lab::grid::grids;
use npsim_lab::points::{Point, points};
use npsim_lab::results::Results;
use npsim_lab::study::Study;
use npsim_lab::verdict::{Comparison, Verdict};
use npsim_lab::{output, profiles, selection, verdict};

use crate::bench::Bench;
use crate::root;

const STUDY: &str = r#"
name = "model"
title = "The forwarder beside a model"
[window]
warm_up = "20us"
measure = "60us"
[metric.egress]
measure = "egress-rate"
[metric.share]
title = "commands of an instruction"
measure = "ratio"
of = "commands"
over = ["instructions"]
me = "0-1"
[metric.told]
measure = "ratio"
of = "references.*.count"
over = "commands"
me = "0-2"
[metric.sram]
measure = "count"
of = "references.sram*.count"
per = "packet"
me = "work"
[metric.sram_of_all]
measure = "count"
of = "units.sram*.commands.*.count"
[metric.sram_of_each]
measure = "count"
of = "references.sram*.count"
me = "0-1"
[metric.length]
measure = "code"
of = "instructions"
me = "work"
[metric.dram]
measure = "code"
of = "references"
unit = "dram"
me = "work"
[metric.head]
measure = "code"
of = "instructions"
me = "work"
from = "receive#"
until = "spared"
[metric.gone]
measure = "code"
of = "instructions"
me = "work"
from = "nowhere#"
[sweep.load]
title = "measured"
system = "extended.toml"
metrics = ["egress", "share", "told", "sram", "sram_of_all", "sram_of_each", "length"]
[[sweep.load.axis]]
name = "rate"
unit = "Mpps"
key = "load.rate"
values = ["1Mpps", "2Mpps", "4Mpps"]
[sweep.code]
system = "extended.toml"
metrics = ["length", "dram", "head", "gone"]
[curve.model]
title = "model"
over = "load.egress"
is = "min(x, n / Td)"
with = { n = 8, Td = { is = "formula", formula = "8 / R", with = { R = { is = "max", of = "load.egress" } } } }
[curve.double]
over = "load.egress"
is = "2 * y"
with = { y = "load.egress" }
[[published]]
id = "M-1"
what = "the model is near"
unit = "%"
at_most = 10
source = "none"
evidence = "derived"
measured = { is = "largest-difference", of = ["load.egress", "model"] }
[[published]]
id = "M-2"
what = "bounded"
stated = "never more than 4"
source = "none"
evidence = "text"
shape = { is = "bounded", of = "load.egress", most = 4.0, least = 0.5, within = 0.01 }
[[published]]
id = "M-3"
what = "above"
stated = "double is above"
source = "none"
evidence = "text"
shape = { is = "above", of = ["double", "load.egress", "model"], margin = 0.5 }
[[published]]
id = "M-4"
what = "below"
stated = "double is below, which it is not"
source = "none"
evidence = "text"
shape = { is = "below", of = ["double", "load.egress"] }
[[published]]
id = "M-4"
what = "rate under light load"
unit = "Mpps"
value = 9.0
tolerance = "5%"
source = "none"
evidence = "text"
measured = { is = "at", of = "double", x = 1 }
[[table]]
name = "rates"
title = "Rates"
unit = "Mpps"
corner = "load"
columns = ["double", "single", "kind"]
row = [
    { label = "1 | low", cell = [{ id = "M-4", nth = 1 }, { measured = { is = "at", of = "load.egress", x = 1 } }, "a, b"] },
]
note = "Half of it."
[[figure]]
name = "model"
title = "model"
curve = [{ of = "load.egress" }, { of = "model" }]
"#;

const PROJECT: &str = r#"
extends = "ROOT/microcode/forward"
[[me]]
name = "work"
id = 2
source = "ROOT/microcode/forward/forward.uc"
define = { ACCEPT_ANY_MAC = 1 }
"#;

impl Bench {
    /// With a project in its folder that extends the forwarder.
    fn extended() -> Self {
        let bench = Self::new();
        let project = PROJECT.replace("ROOT", &root().display().to_string());
        std::fs::write(bench.path("extended.toml"), project).expect("write");
        bench
    }

    /// Runs a study and compares it with the published results.
    fn judged(&self, text: &str) -> (Study, Results, Vec<Comparison>) {
        let study = Study::parse("study", text).expect("a study");
        let results = self.run(text, 2);
        let wanted = selection::select(&study, &[]).expect("rows");
        let rows = verdict::rows(&study, &results, &wanted);
        (study, results, rows)
    }
}

#[test]
fn code_metrics_models_and_tables_are_evaluated() {
    let bench = Bench::extended();
    let (study, results, rows) = bench.judged(STUDY);
    let value = |sweep: &str, metric: &str| {
        let cached = results.points.iter().find(|k| k.point.sweep == sweep);
        results.reading(cached.expect(sweep), metric)
    };
    // The code is counted; the sweep that has nothing else is not run.
    let length = value("code", "length").unwrap();
    assert!((50.0..1000.0).contains(&length), "{length}");
    assert_eq!(value("load", "length"), Ok(length));
    let head = value("code", "head").unwrap();
    assert!((1.0..length).contains(&head), "{head}");
    assert!((1.0..head + length).contains(&value("code", "dram").unwrap()));
    let why = value("code", "gone").unwrap_err();
    assert!(why.contains("no label `nowhere`"), "{why}");
    // The commands that microengines send equal those that the units get, except for those in
    // flight at the beginning and end of the window.
    let (each, all) = (
        value("load", "sram_of_each").unwrap(),
        value("load", "sram_of_all").unwrap(),
    );
    let work = value("load", "sram").unwrap();
    assert!(
        work > 0.0 && each > 0.0 && all >= each - 20.0,
        "{work} {each} {all}"
    );
    assert_eq!(
        value("load", "told"),
        Ok(1.0),
        "every command goes somewhere"
    );
    let share = value("load", "share").unwrap();
    assert!((0.001..0.5).contains(&share), "{share}");
    // The model follows the load and levels off at the measured value.
    let model = samples(
        &study,
        &results,
        "model",
        &std::collections::BTreeMap::new(),
    );
    let measured = samples(
        &study,
        &results,
        "load.egress",
        &std::collections::BTreeMap::new(),
    );
    assert_eq!(model.len(), 3);
    assert_eq!(model[0].y, Ok(1.0));
    assert!(model[2].y.as_ref().unwrap() <= measured[2].y.as_ref().unwrap());
    let verdicts: Vec<_> = rows.iter().map(|row| row.verdict).collect();
    assert_eq!(
        verdicts,
        [
            Verdict::Hit,
            Verdict::ShapeHit,
            Verdict::ShapeHit,
            Verdict::ShapeMiss,
            Verdict::Miss
        ],
        "{rows:#?}"
    );
    let grid = grids(&study, &results).remove(0);
    let cells = &grid.rows[0].cells;
    assert!(cells[0].text.ends_with(" (9)"), "{}", cells[0].text);
    assert_eq!(cells[0].verdict, Some(Verdict::Miss));
    assert_eq!(cells[2].text, "a, b");
    let markdown = grid.markdown();
    assert!(
        markdown.starts_with("Rates [Mpps]\n\n| load | double | single | kind |\n| --- | ---: |"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| 1 \\| low | ") && markdown.contains(" (9) miss | "),
        "{markdown}"
    );
    assert!(
        grid.csv().contains("1 | low,kind,\"a, b\",,\n"),
        "{}",
        grid.csv()
    );
    assert!(grid.terminal(100).contains("Half of it."));

    let folder = bench.path("results");
    output::write(&folder, &study, &results, &rows, false).expect("files");
    let page = std::fs::read_to_string(folder.join("index.html")).expect("a page");
    assert!(
        page.contains("class=\"number miss\">"),
        "the cell is marked"
    );
    assert!(page.contains("one profile: ixp2400"));
    let drawing = std::fs::read_to_string(folder.join("figures/model.svg")).expect("a figure");
    assert_eq!(drawing.matches(">model<").count(), 2, "title and legend");
    for name in ["tables/rates.csv", "tables/rates.md"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

#[test]
fn changed_chip_profile_is_detected() {
    let bench = Bench::extended();
    let begin = STUDY.find("[curve.model]").unwrap();
    let text = &STUDY[..begin];
    let (study, results, _) = bench.judged(text);
    let row = profiles::row(&study, &results);
    assert_eq!((row.verdict, row.own_check), (Verdict::Hit, true));
    let other = text.replace(
        "[sweep.code]",
        "[sweep.code]\nset = { \"profile.sram.read\" = 91 }",
    );
    let (study, results, _) = bench.judged(&other);
    let row = profiles::row(&study, &results);
    assert_eq!(row.verdict, Verdict::Miss);
    let used = profiles::used(&study, &results);
    assert!(
        profiles::shown(&used).contains("with sram.read=91"),
        "{used:?}"
    );
    let another = text.replace(
        "[sweep.code]",
        "[sweep.code]\nset = { \"chip.profile\" = \"ixp2800\" }",
    );
    let (study, results, _) = bench.judged(&another);
    assert!(
        profiles::is_single_profile(&profiles::used(&study, &results)),
        "one for each chip"
    );
}

#[test]
fn row_of_a_model_needs_the_points_behind_it() {
    let study = Study::parse("study", STUDY).expect("a study");
    let points = points(&study, false).expect("points");
    let needed = |nth: usize| {
        let row = &study.published[nth];
        let needs = points
            .iter()
            .filter(|point| selection::needs(&study, row, point));
        needs.map(Point::shown).collect::<Vec<_>>()
    };
    assert_eq!(needed(0).len(), 3);
    assert_eq!(needed(4), ["load: rate 1Mpps"]);
}

#[test]
fn invalid_formulas_and_references_are_refused() {
    for (from, to, expected) in [
        (
            "n / Td)",
            "n / Td",
            "unexpected end of input, expected `,` at character 12",
        ),
        ("n / Td)", "m / Td)", "`with` does not say what `m` is"),
        (
            "n = 8, Td",
            "n = 8, z = 1, Td",
            "nothing is computed from `z`",
        ),
        ("n = 8, Td", "n = inf, Td", "`n` is inf"),
        (
            "over = \"load.egress\"\nis = \"2",
            "over = \"model\"\nis = \"2",
            "is computed itself",
        ),
        (
            "{ y = \"load.egress\" }",
            "{ y = \"load.egres\" }",
            "did you mean `egress`?",
        ),
        ("\"8 / R\"", "\"8 / S\"", "`with` does not say what `S` is"),
        (
            "R = { is = \"max\", of = \"load.egress\" }",
            "R = \"load.egress\"",
            "not a single value",
        ),
        (
            "[\"load.egress\", \"model\"] }",
            "[\"load.egress\"] }",
            "between two curves",
        ),
        ("most = 4.0, least = 0.5, ", "", "needs `least` or `most`"),
        (
            "most = 4.0, least = 0.5",
            "most = 0.4, least = 0.5",
            "no value is between",
        ),
        (
            "within = 0.01 }",
            "margin = 0.01 }",
            "`bounded` has `within`",
        ),
        (
            "], margin = 0.5",
            "], margin = 0.5, most = 1.0",
            "neither `least` nor `most`",
        ),
        (
            "{ id = \"M-4\", nth = 1 }",
            "{ id = \"M-4\", nth = 2 }",
            "no published value is `M-4`, number 2",
        ),
        (", \"a, b\"]", "]", "has 2 cells, but there are 3 columns"),
        (
            "name = \"rates\"",
            "name = \"../rates\"",
            "cannot be a file name",
        ),
        (
            "{ of = \"model\" }",
            "{ of = \"modell\" }",
            "did you mean `model`?",
        ),
        (
            "{ of = \"model\" }",
            "{ of = \"model\", where = { a = 1 } }",
            "is computed",
        ),
        ("[curve.double]", "[curve.\"a.b\"]", "a dot in the name"),
        (
            "unit = \"dram\"",
            "unit = \"ddr\"",
            "`unit` cannot be \"ddr\"",
        ),
    ] {
        let text = STUDY.replacen(from, to, 1);
        assert_ne!(text, STUDY, "{from}");
        let message = Study::parse("s.toml", &text).expect_err(to).to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
}
