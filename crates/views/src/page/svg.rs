//! Drawing: scales, round numbers and the few shapes that charts are made of.
//! Colours are classes, so that the style sheet chooses them for screen, dark
//! screen and paper.

use std::fmt::Write as _;

/// Widths for which charts are drawn: of a page, of half of one, and of a
/// telephone. Text is not scaled much within these.
pub const WIDE: f64 = 840.0;
/// Half the page.
pub const HALF: f64 = 410.0;
/// A telephone.
pub const NARROW: f64 = 356.0;

/// A drawing under way.
#[derive(Debug)]
pub struct Drawing {
    text: String,
}

impl Drawing {
    /// An empty drawing; `label` says to those who cannot see what it shows.
    #[must_use]
    pub fn new(class: &str, width: f64, height: f64, label: &str) -> Self {
        Self {
            text: format!(
                "<svg class=\"{class}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                number(width),
                number(height),
                escaped(label)
            ),
        }
    }

    /// The markup.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text += "</svg>";
        self.text
    }

    /// A filled rectangle.
    pub fn bar(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64, title: &str) {
        let _ = write!(
            self.text,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            number(x),
            number(y),
            number(width),
            number(height)
        );
        if title.is_empty() {
            self.text += "/>";
        } else {
            let _ = write!(self.text, "><title>{}</title></rect>", escaped(title));
        }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.text,
            "<path class=\"{class}\" d=\"M{} {}L{} {}\"/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        );
    }

    /// A path as it is.
    pub fn path(&mut self, class: &str, shape: &str) {
        if !shape.is_empty() {
            let _ = write!(self.text, "<path class=\"{class}\" d=\"{shape}\"/>");
        }
    }

    /// Text; `class` has its anchor: `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = write!(
            self.text,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(x),
            number(y),
            escaped(text)
        );
    }

    /// Markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.text += markup;
    }
}

/// A line through points.
#[must_use]
pub fn through(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut shape = String::new();
    for (i, (x, y)) in points.into_iter().enumerate() {
        let step = if i == 0 { 'M' } else { 'L' };
        let _ = write!(shape, "{step}{} {}", number(x), number(y));
    }
    shape
}

/// The area between points and a base line.
#[must_use]
pub fn area(points: &[(f64, f64)], base: f64) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return String::new();
    };
    let down = [(last.0, base), (first.0, base)];
    through(points.iter().copied().chain(down)) + "Z"
}

/// A rectangle as a part of a path.
pub fn block(shape: &mut String, x: f64, y: f64, width: f64, height: f64) {
    let _ = write!(
        shape,
        "M{} {}h{}v{}h-{}z",
        number(x),
        number(y),
        number(width),
        number(height),
        number(width)
    );
}

/// From values to places.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Puts `from` at `start` and `to` at `end`.
    #[must_use]
    pub fn new(from: f64, to: f64, start: f64, end: f64) -> Self {
        Self {
            from,
            to: if to > from { to } else { from + 1.0 },
            start,
            end,
        }
    }

    /// The place of a value.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }
}

/// Round numbers from 0 to at least `most`, about `count` steps: the step, and
/// how many.
#[must_use]
pub fn steps(most: f64, count: usize) -> (f64, usize) {
    if most <= 0.0 {
        return (1.0, 1);
    }
    let rough = most / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    (step, (most / step - 1e-9).ceil().max(1.0) as usize)
}

/// Round numbers between two values.
#[must_use]
pub fn ticks(from: f64, to: f64, count: usize) -> Vec<f64> {
    let (step, _) = steps(to - from, count);
    let first = (from / step - 1e-9).ceil() as i64;
    let last = (to / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// Three significant digits and a prefix: `4.46 M`, `250 k`, `12`.
#[must_use]
pub fn short(value: f64) -> String {
    let (scaled, prefix) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, " G"),
        v if v >= 1e6 => (value / 1e6, " M"),
        v if v >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    text + prefix
}

/// A unit of time that suits a range of nanoseconds, and how many ns it has.
#[must_use]
pub fn time_unit(range_ns: f64) -> (&'static str, f64) {
    match range_ns {
        r if r >= 2e9 => ("s", 1e9),
        r if r >= 2e6 => ("ms", 1e6),
        r if r >= 2e3 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

/// A coordinate: one decimal is finer than any screen shows.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// Text as markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{escaped, number, short, steps, ticks};

    #[test]
    fn steps_are_round_and_reach_the_most() {
        assert_eq!(steps(4.46e6, 4), (2e6, 3));
        assert_eq!(steps(9.0, 4), (2.5, 4));
        assert_eq!(steps(0.0, 4), (1.0, 1));
        for most in [0.3, 1.0, 7.0, 512.0, 1e9] {
            let (step, count) = steps(most, 5);
            assert!(
                step * count as f64 >= most * (1.0 - 1e-9) && count <= 6,
                "{most}"
            );
        }
    }

    #[test]
    fn ticks_stay_inside() {
        assert_eq!(ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(3.0, 9.0, 3), [4.0, 6.0, 8.0]);
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(short(4_463_641.0), "4.46 M");
        assert_eq!(short(250_000.0), "250 k");
        assert_eq!(short(1500.0), "1500");
        assert_eq!(short(12.0), "12");
        assert_eq!(short(2.5), "2.5");
        assert_eq!(short(0.0), "0");
        assert_eq!(number(3.04), "3");
        assert_eq!(number(-0.01), "0");
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
