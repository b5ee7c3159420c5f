//! SVG output: the few shapes that charts need, and escaped text. Colours are
//! classes, so that a style sheet can set them for screens, dark screens and paper.

use std::fmt::Write as _;

/// A drawing in progress.
#[derive(Debug)]
pub(crate) struct Drawing {
    text: String,
}

impl Drawing {
    /// Creates an empty drawing; `label` describes it for screen readers.
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

    /// Creates an empty drawing that is a file of its own, with its style sheet. Its
    /// rules should name the class, since a page may embed the drawing.
    #[must_use]
    pub fn document(class: &str, (width, height): (f64, f64), label: &str, style: &str) -> Self {
        let (width, height) = (number(width), number(height));
        Self {
            text: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\"><style>{style}</style>",
                escaped(label)
            ),
        }
    }

    /// Adds a disc.
    pub(crate) fn disc(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ = write!(
            self.text,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            number(x),
            number(y),
            number(radius)
        );
    }

    /// Returns the markup.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text += "</svg>";
        self.text
    }

    /// Adds a filled rectangle.
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

    /// Adds a straight line.
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

    /// Adds a path unless its data is empty.
    pub fn path(&mut self, class: &str, shape: &str) {
        if !shape.is_empty() {
            let _ = write!(self.text, "<path class=\"{class}\" d=\"{shape}\"/>");
        }
    }

    /// Adds text; `class` includes its anchor: `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = write!(
            self.text,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(x),
            number(y),
            escaped(text)
        );
    }

    /// Adds text that reads upwards, rotated about its position.
    pub(crate) fn turned_text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y) = (number(x), number(y));
        let _ = write!(
            self.text,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\">{}</text>",
            escaped(text)
        );
    }

    /// Adds raw markup.
    pub fn raw(&mut self, markup: &str) {
        self.text += markup;
    }
}

/// The path of a line through points.
#[must_use]
pub fn line_path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut shape = String::new();
    for (i, (x, y)) in points.into_iter().enumerate() {
        let step = if i == 0 { 'M' } else { 'L' };
        let _ = write!(shape, "{step}{} {}", number(x), number(y));
    }
    shape
}

/// The path of the area between points and a base line.
#[must_use]
pub(crate) fn area(points: &[(f64, f64)], base: f64) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return String::new();
    };
    let down = [(last.0, base), (first.0, base)];
    line_path(points.iter().copied().chain(down)) + "Z"
}

/// Adds a rectangle to a path.
pub fn rect_path(shape: &mut String, x: f64, y: f64, width: f64, height: f64) {
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

/// Formats a coordinate: one decimal is finer than any screen.
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

/// Escapes text for markup. Control characters, which XML cannot represent, become
/// `?`.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => out.push('?'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Drawing, escaped, number};

    #[test]
    fn text_is_escaped_and_coordinates_are_rounded() {
        assert_eq!(number(3.04), "3");
        assert_eq!(number(-0.01), "0");
        assert_eq!(escaped("a<b & \"c\"\n"), "a&lt;b &amp; &quot;c&quot;?");
    }

    #[test]
    fn document_is_self_contained() {
        let svg = Drawing::document("it", (10.0, 20.5), "a & b", ".it text{fill:red}").finish();
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""),
            "{svg}"
        );
        assert!(
            svg.contains("viewBox=\"0 0 10 20.5\"") && svg.contains("a &amp; b"),
            "{svg}"
        );
        assert!(svg.ends_with("</svg>"), "{svg}");
    }
}
