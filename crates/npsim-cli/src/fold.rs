//! Folds lines that are too long for a terminal, between words.

/// The longest label at the beginning of a line, such as `latency`, in columns.
const MAX_LABEL: usize = 24;
/// A line is broken between two groups of figures only if at least 1/`MIN_FILL_DIVISOR` of it stays
/// filled.
const MIN_FILL_DIVISOR: usize = 2;

/// Returns the text with lines of at most `width` columns. Continuation lines are indented to the
/// text after the line's label, or to the line's own indentation. A word that is longer than a
/// line is not broken.
#[must_use]
pub fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = match line.strip_suffix('\n') {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        fold_line(&mut out, content, width);
        out.push_str(end);
    }
    out
}

fn fold_line(out: &mut String, line: &str, width: usize) {
    let indent = hanging(line).min(width / 2);
    let mut rest = line;
    let mut used = 0;
    while let Some((before, behind)) = break_in(rest, width.saturating_sub(used), used == 0) {
        out.push_str(before);
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
        rest = behind;
        used = indent;
    }
    out.push_str(rest);
}

/// The indentation of continuation lines: that of the text after a label, or that of the line
/// itself.
fn hanging(line: &str) -> usize {
    let own = line.chars().take_while(|it| *it == ' ').count();
    let text = &line[own..];
    let label = text.find("  ").filter(|&at| at <= MAX_LABEL);
    label.map_or(own, |at| {
        let gap = text[at..].chars().take_while(|it| *it == ' ').count();
        own + text[..at].chars().count() + gap
    })
}

/// Splits a line that is longer than `room` in two.
fn break_in(text: &str, room: usize, first: bool) -> Option<(&str, &str)> {
    let end = text.char_indices().nth(room).map(|(at, _)| at)?;
    // The indentation and the label of a first line cannot be broken.
    let start = if first { hanging_bytes(text) } else { 0 };
    // A space at the very end of the room may be the break.
    let last = text[end..].chars().next().map_or(0, char::len_utf8);
    let reach = &text[..end + last];
    let spaces = |pattern: &str| {
        let found = reach.rmatch_indices(pattern).map(|(at, _)| at);
        found.filter(|&at| at > start).max()
    };
    let (wide, narrow) = (spaces("   "), spaces(" "));
    let at = match (wide, narrow) {
        (Some(wide), _) if wide >= end / MIN_FILL_DIVISOR => Some(wide),
        (_, narrow) => narrow,
    };
    // An overlong word stays in one piece, and the text after it begins a new line.
    let at = at.or_else(|| text[end..].find(' ').map(|at| end + at))?;
    let (before, behind) = (text[..at].trim_end(), text[at..].trim_start());
    (!behind.is_empty()).then_some((before, behind))
}

fn hanging_bytes(line: &str) -> usize {
    let columns = hanging(line);
    line.char_indices()
        .nth(columns)
        .map_or(line.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn short_lines_are_unchanged() {
        for text in ["", "\n", "a b\n", "one\n\n two  \nthree"] {
            assert_eq!(folded(text, 10), text);
        }
        assert_eq!(folded("1234567890\n", 10), "1234567890\n");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(folded("one two three four\n", 10), "one two\nthree four\n");
        assert_eq!(folded("  one two three", 9), "  one two\n  three");
        assert_eq!(folded("averylongword b", 6), "averylongword\nb");
        assert_eq!(folded("averylongword", 6), "averylongword");
        assert_eq!(folded("über größe maß", 10), "über größe\nmaß");
    }

    #[test]
    fn folding_keeps_every_word_at_any_width() {
        let text = "path  größe/日本 über ëïö üü, äß → ø 𝕏 end";
        for width in 1..60 {
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(&folded(text, width)), words(text), "{width}");
        }
    }

    #[test]
    fn folded_lines_align_after_the_label() {
        assert_eq!(
            folded("rates     in 1 Gb/s, 3 s   out 2 Gb/s, 4 s\n", 30),
            "rates     in 1 Gb/s, 3 s\n          out 2 Gb/s, 4 s\n"
        );
        assert_eq!(
            folded("note  one two three four", 16),
            "note  one two\n      three four"
        );
    }
}
