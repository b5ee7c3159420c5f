//! Shares of time as horizontal bars with names and numbers.

use super::scale::Scale;
use super::svg::Drawing;

/// A bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareBar {
    /// The name beside it.
    pub name: String,
    /// Whether it is the limit and marked as such.
    pub limits: bool,
    /// Parts: class, name and thousandths.
    pub parts: Vec<(&'static str, &'static str, u64)>,
    /// The thousandths shown as its number.
    pub total: u64,
}

/// Draws bars one below the other; the space for names follows from an assumed
/// letter width.
#[must_use]
pub fn draw(bars: &[ShareBar], width: f64, label: &str) -> String {
    const ROW: f64 = 24.0;
    const LETTER: f64 = 6.9;
    let named = |bar: &ShareBar| {
        if bar.limits {
            format!("▶ {}", bar.name)
        } else {
            bar.name.clone()
        }
    };
    let longest = bars.iter().map(|bar| named(bar).chars().count()).max();
    let wanted = longest.unwrap_or(0) as f64 * LETTER + 10.0;
    let left = wanted.min(width * 0.42);
    let (right, bottom) = (52.0, 22.0);
    let height = ROW * bars.len() as f64 + bottom;
    let x = Scale::new(0.0, 1000.0, left, width - right);
    let mut drawing = Drawing::new("chart", width, height, label);
    for tick in [0, 25, 50, 75, 100] {
        let at = x.at(f64::from(tick) * 10.0);
        drawing.line("grid", (at, 0.0), (at, height - bottom));
        if width > 380.0 || tick % 50 == 0 {
            drawing.text("tick middle", at, height - 6.0, &format!("{tick}%"));
        }
    }
    for (row, bar) in bars.iter().enumerate() {
        let y = ROW * row as f64;
        let letters = ((left - 10.0) / LETTER) as usize;
        let class = if bar.limits {
            "name end limit"
        } else {
            "name end"
        };
        let name = fitting(&named(bar), letters);
        drawing.text(class, left - 8.0, y + 16.0, &name);
        let mut from = 0;
        for &(class, name, share) in &bar.parts {
            let share = share.min(1000 - from);
            if share == 0 {
                continue;
            }
            let title = format!("{}: {name} {}.{}%", bar.name, share / 10, share % 10);
            let (start, end) = (x.at(from as f64), x.at((from + share) as f64));
            drawing.bar(class, start, y + 4.0, end - start, ROW - 8.0, &title);
            from += share;
        }
        let total = format!("{}.{}%", bar.total / 10, bar.total % 10);
        drawing.text("value end", width - 4.0, y + 16.0, &total);
    }
    drawing.line("axis", (left, 0.0), (left, height - bottom));
    drawing.finish()
}

/// Shortens a text in the middle if it has more letters than fit.
fn fitting(text: &str, letters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= letters || letters < 5 {
        return text.to_owned();
    }
    let tail = letters / 3;
    let head: String = all[..letters - tail - 1].iter().collect();
    let end: String = all[all.len() - tail..].iter().collect();
    format!("{head}…{end}")
}

#[cfg(test)]
mod tests {
    use super::{ShareBar, draw, fitting};

    #[test]
    fn bar_never_exceeds_its_row() {
        let bar = ShareBar {
            name: "microengine 0".into(),
            limits: false,
            parts: vec![("a", "one", 700), ("b", "two", 900)],
            total: 1000,
        };
        let svg = draw(&[bar], 400.0, "test");
        assert!(svg.contains("two 30.0%"), "{svg}");
    }

    #[test]
    fn bar_of_the_limit_is_marked() {
        let bar = |limits| ShareBar {
            name: "sram0".into(),
            limits,
            parts: Vec::new(),
            total: 990,
        };
        let svg = draw(&[bar(false), bar(true)], 400.0, "test");
        assert_eq!(svg.matches("▶ sram0").count(), 1, "{svg}");
        assert_eq!(svg.matches("end limit").count(), 1, "{svg}");
    }

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        assert_eq!(fitting("short", 8), "short");
        assert_eq!(fitting("a-very-long-name.uc", 12), "a-very-…e.uc");
    }
}
