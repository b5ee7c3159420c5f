//! Values and shapes of known curves.

use super::{ShapeFinding, shape, value};
use crate::expression::{CurveName, Measured, Shape};
use crate::sample::CurvePoint;

fn curve(name: &CurveName) -> Vec<CurvePoint> {
    let of = |f: fn(f64) -> f64| {
        (1..=8)
            .map(|x| CurvePoint {
                x: f64::from(x),
                y: Ok(f(f64::from(x))),
                estimate: None,
            })
            .collect()
    };
    match name.of() {
        "a.saturating" => of(|x| x.min(4.0)),
        "a.line" => of(|x| 2.0 * x + 1.0),
        "a.square" => of(|x| x * x),
        "a.falling" => of(|x| 9.0 - x),
        "a.four" => of(|_| 4.0),
        "a.zero" => of(|_| 0.0),
        "a.nearly" => of(|_| 1e-5),
        "a.root" => of(f64::sqrt),
        "a.broken" => {
            let mut samples: Vec<CurvePoint> = of(|x| x);
            samples[2].y = Err("it stood still".into());
            samples
        }
        "a.short" => vec![CurvePoint {
            x: 1.0,
            y: Ok(1.0),
            estimate: None,
        }],
        _ => Vec::new(),
    }
}

fn compute(text: &str) -> Result<f64, String> {
    #[derive(serde::Deserialize)]
    struct Holder {
        m: Measured,
    }
    let holder: Holder = toml::from_str(&format!("m = {text}")).expect(text);
    value(&holder.m, &curve)
}

fn evaluate_shape(text: &str) -> Result<ShapeFinding, String> {
    #[derive(serde::Deserialize)]
    struct Holder {
        s: Shape,
    }
    let holder: Holder = toml::from_str(&format!("s = {text}")).expect(text);
    shape(&holder.s, &curve)
}

#[test]
fn curve_values_are_computed() {
    for (text, expected) in [
        (r#"{ is = "at", of = "a.line", x = 3 }"#, 7.0),
        (r#"{ is = "max", of = "a.saturating" }"#, 4.0),
        (r#"{ is = "min", of = "a.falling" }"#, 1.0),
        (r#"{ is = "mean", of = "a.saturating", from = 4 }"#, 4.0),
        (
            r#"{ is = "largest-difference", of = ["a.saturating", "a.four"], from = 3 }"#,
            25.0,
        ),
        (
            r#"{ is = "formula", formula = "600 / R - k", with = { k = 50, R = { is = "max", of = "a.saturating" } } }"#,
            100.0,
        ),
        (
            r#"{ is = "flat-from", of = "a.saturating", within = 0.01 }"#,
            4.0,
        ),
        (
            r#"{ is = "follows-until", of = "a.saturating", within = 0.01 }"#,
            4.0,
        ),
        (
            r#"{ is = "ratio", of = [{ is = "max", of = "a.line" }, { is = "max", of = "a.saturating" }] }"#,
            4.25,
        ),
        (
            r#"{ is = "difference", of = [{ is = "at", of = "a.line", x = 2 }, { is = "at", of = "a.line", x = 1 }] }"#,
            2.0,
        ),
    ] {
        let value = compute(text).expect(text);
        assert!((value - expected).abs() < 1e-12, "{text}: {value}");
    }
}

#[test]
fn failed_points_report_their_reason() {
    for text in [
        r#"{ is = "max", of = "a.broken" }"#,
        r#"{ is = "at", of = "a.broken", x = 3 }"#,
        r#"{ is = "ratio", of = [{ is = "max", of = "a.line" }, { is = "max", of = "a.broken" }] }"#,
    ] {
        assert!(
            compute(text).unwrap_err().contains("it stood still"),
            "{text}"
        );
    }
    assert!(compute(r#"{ is = "at", of = "a.line", x = 9 }"#).is_err());
    assert!(compute(r#"{ is = "max", of = "a.none" }"#).is_err());
    assert!(evaluate_shape(r#"{ is = "flat", of = "a.broken", within = 1 }"#).is_err());
    // Beyond the broken point the shape can be checked.
    assert!(
        evaluate_shape(r#"{ is = "follows", of = "a.broken", within = 0, from = 4 }"#)
            .unwrap()
            .holds
    );
    assert!(
        evaluate_shape(r#"{ is = "linear", of = "a.short" }"#)
            .unwrap_err()
            .contains("3 points")
    );
}

#[test]
fn shapes_are_checked() {
    for (text, holds) in [
        (
            r#"{ is = "follows", of = "a.saturating", within = 0.01, until = 4 }"#,
            true,
        ),
        (
            r#"{ is = "follows", of = "a.saturating", within = 0.01, until = 5 }"#,
            false,
        ),
        (
            r#"{ is = "flat", of = "a.saturating", within = 0.01, from = 4 }"#,
            true,
        ),
        (
            r#"{ is = "flat", of = "a.saturating", within = 0.01 }"#,
            false,
        ),
        (
            r#"{ is = "same", of = ["a.saturating", "a.four"], within = 0, from = 4 }"#,
            true,
        ),
        (
            r#"{ is = "same", of = ["a.saturating", "a.four"], within = 0.5 }"#,
            false,
        ),
        (
            r#"{ is = "same", of = ["a.zero", "a.zero"], within = 0 }"#,
            true,
        ),
        // An infinite distance, as a share of 0.
        (
            r#"{ is = "same", of = ["a.zero", "a.four"], within = 0.5 }"#,
            false,
        ),
        (
            r#"{ is = "order", of = ["a.line", "a.saturating"], margin = 0.5 }"#,
            true,
        ),
        (
            r#"{ is = "order", of = ["a.saturating", "a.line"] }"#,
            false,
        ),
        (
            r#"{ is = "above", of = ["a.square", "a.root", "a.saturating"], from = 2, margin = 0.4 }"#,
            true,
        ),
        (r#"{ is = "above", of = ["a.square", "a.root"] }"#, false),
        (
            r#"{ is = "above", of = ["a.square", "a.root"], margin = -0.1 }"#,
            true,
        ),
        (
            r#"{ is = "below", of = ["a.root", "a.line", "a.square"], from = 2, margin = 0.6 }"#,
            true,
        ),
        (r#"{ is = "below", of = ["a.line", "a.root"] }"#, false),
        (r#"{ is = "bounded", of = "a.saturating", most = 4 }"#, true),
        (
            r#"{ is = "bounded", of = "a.saturating", least = 1, most = 3.9 }"#,
            false,
        ),
        (
            r#"{ is = "bounded", of = "a.saturating", most = 3.9, within = 0.03 }"#,
            true,
        ),
        (r#"{ is = "bounded", of = "a.line", least = 3.5 }"#, false),
        (
            r#"{ is = "order", of = ["a.line", "a.saturating"], margin = 1.5, until = 4 }"#,
            false,
        ),
        (r#"{ is = "linear", of = "a.line", within = 0.01 }"#, true),
        (
            r#"{ is = "linear", of = "a.square", within = 0.05 }"#,
            false,
        ),
        (r#"{ is = "linear", of = "a.four", within = 0.05 }"#, false),
        (
            r#"{ is = "linear", of = "a.falling", within = 0.05 }"#,
            false,
        ),
        (r#"{ is = "convex", of = "a.square", margin = 0.2 }"#, true),
        (r#"{ is = "convex", of = "a.line", margin = 0.05 }"#, false),
        (r#"{ is = "convex", of = "a.root" }"#, false),
        (r#"{ is = "rising", of = "a.line" }"#, true),
        (r#"{ is = "rising", of = "a.four" }"#, false),
        (r#"{ is = "rising", of = "a.falling" }"#, false),
        (r#"{ is = "falling", of = "a.falling" }"#, true),
        (r#"{ is = "falling", of = "a.saturating" }"#, false),
    ] {
        let seen = evaluate_shape(text).expect(text);
        assert_eq!(seen.holds, holds, "{text}: {}", seen.found);
    }
}

#[test]
fn division_by_nearly_zero_is_an_error() {
    let why = compute(
        r#"{ is = "ratio", of = [{ is = "max", of = "a.four" }, { is = "max", of = "a.nearly" }] }"#,
    );
    let why = why.expect_err("no ratio");
    assert!(why.contains("nearly 0"), "{why}");
    let why = compute(r#"{ is = "largest-difference", of = ["a.four", "a.nearly"] }"#);
    let why = why.expect_err("no difference");
    assert!(why.contains("nearly 0"), "{why}");
    // Findings stay decided, and the text shows no more digits than are known.
    for (text, holds) in [
        (r#"{ is = "above", of = ["a.four", "a.nearly"] }"#, true),
        (r#"{ is = "below", of = ["a.four", "a.nearly"] }"#, false),
        (r#"{ is = "order", of = ["a.nearly", "a.four"] }"#, false),
        (
            r#"{ is = "same", of = ["a.nearly", "a.four"], within = 0.1 }"#,
            false,
        ),
    ] {
        let finding = evaluate_shape(text).expect(text);
        assert_eq!(finding.holds, holds, "{text}");
        assert!(
            finding.found.len() < 70 && !finding.found.contains("00000"),
            "{}",
            finding.found
        );
    }
}
