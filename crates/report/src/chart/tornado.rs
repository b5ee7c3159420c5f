//! Tornado figures: the range of each value when its inputs are varied, as bars around
//! the base value.

use std::fmt::Write as _;

use super::scale::{Scale, decimals, ticks};
use super::svg::{Drawing, rect_path};

/// A value and its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The label.
    pub label: String,
    /// The lowest and the highest value with a single input moved, in percent relative to
    /// the base value, and which input it was.
    pub alone: [(f64, String); 2],
    /// The lowest and the highest value with all inputs moved together, if this was done.
    pub together: Option<[f64; 2]>,
    /// The bounds within which it counts as reproduced, in the same percent, if there are
    /// any.
    pub accepted: [Option<f64>; 2],
}

/// A figure of bars, one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Tornado {
    /// The title above it.
    pub title: String,
    /// The axis label.
    pub axis: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 330.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 64.0;
const ROW: f64 = 26.0;
/// Length in percent at which a bar is cut: how far it would extend adds nothing.
const MAX_PERCENT: f64 = 100.0;

impl Tornado {
    /// Draws the figure as a file of its own.
    #[must_use]
    pub fn draw(&self) -> String {
        let base = TOP + ROW * self.bars.len() as f64;
        let size = (WIDTH, base + BOTTOM);
        let mut drawing = Drawing::document(CLASS, size, &self.title, &style());
        let mut paper = String::new();
        rect_path(&mut paper, 0.0, 0.0, size.0, size.1);
        drawing.path("paper", &paper);
        drawing.text("title middle", WIDTH / 2.0, 28.0, &self.title);
        let (from, to) = self.range();
        let x = Scale::new(from, to, LEFT, WIDTH - RIGHT);
        let at = |percent: f64| x.at(percent.clamp(from, to));
        let all = ticks(from, to, 8);
        let digits = decimals(&all);
        for tick in all {
            drawing.line("grid", (x.at(tick), TOP), (x.at(tick), base));
            drawing.text(
                "middle",
                x.at(tick),
                base + 18.0,
                &format!("{tick:+.digits$}"),
            );
        }
        for (number, bar) in self.bars.iter().enumerate() {
            let top = TOP + ROW * number as f64;
            let middle = top + ROW / 2.0;
            drawing.text("end", LEFT - 8.0, middle + 4.0, &bar.label);
            if let Some([low, high]) = bar.together {
                drawing.line("together", (at(low), middle), (at(high), middle));
            }
            let [(low, lowest), (high, highest)] = &bar.alone;
            let (start, end) = (at(low.min(0.0)), at(high.max(0.0)));
            let tip = format!("{low:+.1} %: {lowest}; {high:+.1} %: {highest}");
            drawing.bar(
                "alone",
                start,
                top + 6.0,
                (end - start).max(1.0),
                ROW - 12.0,
                &tip,
            );
            for bound in bar.accepted.iter().flatten() {
                if (from..=to).contains(bound) {
                    drawing.line(
                        "bound",
                        (at(*bound), top + 3.0),
                        (at(*bound), top + ROW - 3.0),
                    );
                }
            }
        }
        drawing.line("axis", (x.at(0.0), TOP), (x.at(0.0), base));
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        drawing.text("middle", middle, base + 38.0, &self.axis);
        let legend =
            "bars: one at a time; lines: all together; ticks: where a row is no longer reproduced";
        drawing.text("middle", WIDTH / 2.0, base + 56.0, legend);
        drawing.finish() + "\n"
    }

    fn range(&self) -> (f64, f64) {
        let mut range = (-5.0_f64, 5.0_f64);
        for bar in &self.bars {
            let alone = bar.alone.iter().map(|(percent, _)| *percent);
            for percent in alone.chain(bar.together.into_iter().flatten()) {
                range = (range.0.min(percent), range.1.max(percent));
            }
        }
        (range.0.max(-MAX_PERCENT), range.1.min(MAX_PERCENT))
    }
}

/// The class of the drawing and of its style rules.
const CLASS: &str = "npsim-tornado";

fn style() -> String {
    let rules = [
        ("text", "font:12px sans-serif;fill:#000"),
        (".paper", "fill:#fff"),
        (".title", "font-size:17px"),
        (".middle", "text-anchor:middle"),
        (".end", "text-anchor:end"),
        (".grid", "stroke:#e1e1e1"),
        (".axis", "stroke:#000"),
        (".alone", "fill:#005aa0"),
        (".together", "stroke:#c85000;stroke-width:2"),
        (".bound", "stroke:#000;stroke-width:2"),
    ];
    let mut style = String::new();
    for (what, how) in rules {
        // Writing to a String cannot fail.
        let _ = write!(style, ".{CLASS} {what}{{{how}}}");
    }
    style
}

#[cfg(test)]
mod tests {
    use super::{Bar, Tornado};

    #[test]
    fn every_bar_is_drawn_with_its_parameter() {
        let bar = |label: &str, low, high| Bar {
            label: label.into(),
            alone: [
                (low, "sram.read -20 %".into()),
                (high, "LOCK_GAP 22".into()),
            ],
            together: Some([low * 2.0, high * 2.0]),
            accepted: [Some(-10.0), Some(10.0)],
        };
        let svg = Tornado {
            title: "rates & delays".into(),
            axis: "change in percent".into(),
            bars: vec![bar("H-20", -3.0, 4.0), bar("H-35", -30.0, 900.0)],
        }
        .draw();
        assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"together\"").count(), 2);
        assert_eq!(svg.matches("class=\"bound\"").count(), 4);
        for text in ["rates &amp; delays", "H-20", "change in percent"] {
            assert!(svg.contains(&format!(">{text}<")), "{text}");
        }
        assert!(svg.contains("LOCK_GAP 22"));
        assert!(svg.contains(">+100<") && !svg.contains(">+200<"), "{svg}");
    }
}
