//! Curves with axes and a legend: the figures of studies.

use std::fmt::Write as _;

use super::scale::{Scale, decimals, ticks};
use super::svg::{Drawing, line_path, rect_path};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The legend text.
    pub label: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Error bars: position, lower and upper end.
    pub bars: Vec<(f64, f64, f64)>,
    /// Whether it is computed rather than measured: drawn dashed, without a disc at each point.
    pub computed: bool,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title above it.
    pub title: String,
    /// The axis labels, horizontal and vertical.
    pub labels: (String, String),
    /// Minimum and maximum of both axes, horizontal and vertical.
    pub ranges: ((f64, f64), (f64, f64)),
    /// The curves.
    pub curves: Vec<Curve>,
    /// Single named values, drawn as crosses.
    pub marks: Vec<(String, f64, f64)>,
    /// The legend text for crosses.
    pub marks_label: String,
    /// Notes below the legend, on the error bars or why there are none.
    pub notes: Vec<String>,
    /// Whether to draw the line on which both axes have the same value.
    pub diagonal: bool,
}

const WIDTH: f64 = 760.0;
/// Height of the part above the legend.
const HEIGHT: f64 = 470.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 54.0;
/// Height of a line of the legend, which is below the chart and hides nothing.
const LEGEND_LINE: f64 = 20.0;
/// Legend entries per line.
const LEGEND_COLUMNS: usize = 2;

/// Colours that remain distinguishable in print and with colour blindness.
const COLOURS: [&str; 7] = [
    "#005aa0", "#c85000", "#00825a", "#963282", "#6e6e6e", "#be8c00", "#0096be",
];

impl Figure {
    /// Draws the figure as a file of its own.
    #[must_use]
    pub fn draw(&self) -> String {
        let entries = self.curves.len() + usize::from(!self.marks.is_empty());
        let lines = entries.div_ceil(LEGEND_COLUMNS) as f64;
        let notes = self.notes.len() as f64;
        let size = (WIDTH, HEIGHT + (lines + notes + 0.5) * LEGEND_LINE);
        let mut drawing = Drawing::document(CLASS, size, &self.title, &style());
        let mut paper = String::new();
        rect_path(&mut paper, 0.0, 0.0, size.0, size.1);
        drawing.path("paper", &paper);
        drawing.text("title", WIDTH / 2.0, 28.0, &self.title);
        let (across, up) = self.ranges;
        let x = Scale::new(across.0, across.1, LEFT, WIDTH - RIGHT);
        let y = Scale::new(up.0, up.1, HEIGHT - BOTTOM, TOP);
        self.axes(&mut drawing, &x, &y);
        if self.diagonal {
            let (from, to) = (across.0.max(up.0), across.1.min(up.1));
            let end = |value| (x.at(value), y.at(value));
            drawing.line("diagonal", end(from), end(to));
        }
        for (number, curve) in self.curves.iter().enumerate() {
            let colour = number % COLOURS.len();
            let places: Vec<_> = curve
                .points
                .iter()
                .map(|&(across, up)| (x.at(across), y.at(up)))
                .collect();
            let computed = if curve.computed { " computed" } else { "" };
            let class = format!("curve c{colour}{computed}");
            drawing.path(&class, &line_path(places.iter().copied()));
            for &(across, from, to) in &curve.bars {
                bar(
                    &mut drawing,
                    &format!("bar c{colour}"),
                    x.at(across),
                    [y.at(from), y.at(to)],
                );
            }
            if !curve.computed {
                for place in places {
                    drawing.disc(&format!("f{colour}"), place, 3.0);
                }
            }
        }
        for (name, across, up) in &self.marks {
            let (x, y) = (x.at(*across), y.at(*up));
            cross(&mut drawing, x, y, 6.0);
            if x > WIDTH * 0.75 {
                drawing.text("end", x - 9.0, y - 5.0, name);
            } else {
                drawing.text("start", x + 9.0, y - 5.0, name);
            }
        }
        self.legend(&mut drawing);
        for (number, note) in self.notes.iter().enumerate() {
            let below = HEIGHT + 12.5 + (lines + number as f64) * LEGEND_LINE;
            drawing.text("start", LEFT, below, note);
        }
        drawing.finish() + "\n"
    }

    fn axes(&self, drawing: &mut Drawing, x: &Scale, y: &Scale) {
        let (across, up) = self.ranges;
        let (base, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let all = ticks(across.0, across.1, 9);
        for &tick in &all {
            let at = x.at(tick);
            drawing.line("grid", (at, TOP), (at, base));
            drawing.text("middle", at, base + 18.0, &decimal(tick, across, &all));
        }
        let all = ticks(up.0, up.1, 8);
        for &tick in &all {
            let at = y.at(tick);
            drawing.line("grid", (LEFT, at), (end, at));
            drawing.text("end", LEFT - 7.0, at + 4.5, &decimal(tick, up, &all));
        }
        drawing.line("axis", (LEFT, TOP), (LEFT, base));
        drawing.line("axis", (LEFT, base), (end, base));
        let (below, beside) = &self.labels;
        drawing.text(
            "label middle",
            f64::midpoint(LEFT, end),
            HEIGHT - 12.0,
            below,
        );
        let (x, y) = (18.0, f64::midpoint(TOP, base));
        drawing.turned_text("label middle", x, y, beside);
    }

    /// Draws the legend: an entry per curve, and one for the crosses if there are any.
    fn legend(&self, drawing: &mut Drawing) {
        let column = (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS as f64;
        let place = |entry: usize| {
            (
                LEFT + (entry % LEGEND_COLUMNS) as f64 * column,
                HEIGHT + 8.0 + (entry / LEGEND_COLUMNS) as f64 * LEGEND_LINE,
            )
        };
        for (number, curve) in self.curves.iter().enumerate() {
            let (x, y) = place(number);
            let computed = if curve.computed { " computed" } else { "" };
            let class = format!("curve c{}{computed}", number % COLOURS.len());
            drawing.line(&class, (x, y), (x + 20.0, y));
            drawing.text("start", x + 28.0, y + 4.5, &curve.label);
        }
        if !self.marks.is_empty() {
            let (x, y) = place(self.curves.len());
            cross(drawing, x + 10.0, y, 5.0);
            drawing.text("start", x + 28.0, y + 4.5, &self.marks_label);
        }
    }
}

/// Draws an error bar with a short line at each end.
fn bar(drawing: &mut Drawing, class: &str, x: f64, ends: [f64; 2]) {
    let [from, to] = ends;
    drawing.line(class, (x, from), (x, to));
    for end in ends {
        drawing.line(class, (x - 4.0, end), (x + 4.0, end));
    }
}

fn cross(drawing: &mut Drawing, x: f64, y: f64, arm: f64) {
    drawing.line("cross", (x - arm, y - arm), (x + arm, y + arm));
    drawing.line("cross", (x - arm, y + arm), (x + arm, y - arm));
}

/// Formats a number of an axis, with the decimals that suit its range and that all ticks need for
/// their labels to be exact.
fn decimal(value: f64, (from, to): (f64, f64), ticks: &[f64]) -> String {
    let usual = match to - from {
        range if range < 1.0 => 2,
        range if range < 20.0 => 1,
        _ => 0,
    };
    let digits = usual.max(decimals(ticks));
    let text = format!("{value:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

/// The class of the drawing and of its style rules, so that a page that embeds the drawing does
/// not apply them elsewhere.
const CLASS: &str = "npsim-figure";

fn style() -> String {
    let rules = [
        ("text", "font:13px sans-serif;fill:#000"),
        ("path", "fill:none"),
        (".paper", "fill:#fff"),
        (".title", "font-size:18px;text-anchor:middle"),
        (".label", "font-size:15px"),
        (".middle", "text-anchor:middle"),
        (".end", "text-anchor:end"),
        (".grid", "stroke:#e1e1e1"),
        (".axis", "stroke:#000"),
        (".diagonal", "stroke:#aaa;stroke-dasharray:5 5"),
        (".cross", "stroke:#000;stroke-width:2"),
        (".curve", "stroke-width:2"),
        (".computed", "stroke-dasharray:7 4"),
        (".bar", "stroke-width:1.2"),
    ];
    let mut style = String::new();
    for (what, how) in rules {
        // Writing to a String cannot fail.
        let _ = write!(style, ".{CLASS} {what}{{{how}}}");
    }
    for (number, colour) in COLOURS.iter().enumerate() {
        let _ = write!(
            style,
            ".{CLASS} .c{number}{{stroke:{colour}}}.{CLASS} .f{number}{{fill:{colour}}}"
        );
    }
    style
}

#[cfg(test)]
mod tests {
    use super::{Curve, Figure, decimal, ticks};

    #[test]
    fn every_curve_and_mark_is_drawn_and_labelled() {
        let curve = |label: &str, computed| Curve {
            label: label.into(),
            points: vec![(0.0, 0.0), (5.0, 2.0), (10.0, 8.0)],
            bars: if computed {
                Vec::new()
            } else {
                vec![(5.0, 1.0, 3.0)]
            },
            computed,
        };
        let svg = Figure {
            title: "rate < line".into(),
            labels: ("load".into(), "rate [Mpps]".into()),
            ranges: ((0.0, 10.0), (0.0, 9.0)),
            curves: vec![curve("measured", false), curve("model", true)],
            marks: vec![("P1".into(), 5.0, 3.0)],
            marks_label: "published".into(),
            notes: vec!["bars: 95 % intervals".into()],
            diagonal: true,
        }
        .draw();
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        for text in [
            "rate &lt; line",
            "measured",
            "model",
            "P1",
            "published",
            "rate [Mpps]",
            "bars: 95 % intervals",
        ] {
            assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
        }
        assert_eq!(svg.matches("computed\"").count(), 2, "{svg}");
        // An error bar is a line with a cap at each end.
        assert_eq!(svg.matches("\"bar c0\"").count(), 3, "{svg}");
    }

    #[test]
    fn axis_labels_have_enough_decimals() {
        let of = |value, range: (f64, f64)| decimal(value, range, &ticks(range.0, range.1, 9));
        assert_eq!(of(0.25, (0.0, 0.9)), "0.25");
        assert_eq!(of(2.5, (0.0, 10.0)), "2.5");
        assert_eq!(of(250.0, (0.0, 1000.0)), "250");
        assert_eq!(of(-0.0, (-1.0, 1.0)), "0.00");
    }

    #[test]
    fn axis_labels_match_their_tick_positions() {
        let ranges = [
            (0.0, 2.16),
            (0.0, 0.02),
            (0.0, 20.5),
            (3.0, 3.002),
            (0.0, 7e-5),
        ];
        for range in ranges {
            for count in [8, 9] {
                let all = ticks(range.0, range.1, count);
                for &tick in &all {
                    let label = decimal(tick, range, &all);
                    let said: f64 = label.parse().expect("a number");
                    let off = (said - tick).abs() / (range.1 - range.0);
                    assert!(off < 1e-6, "{tick} is labelled {label}");
                }
            }
        }
        let all = ticks(0.0, 2.16, 9);
        assert_eq!(decimal(0.75, (0.0, 2.16), &all), "0.75");
    }
}
