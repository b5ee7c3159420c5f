//! The part of Markdown that the book is written in: blocks, and marks within a line.
//! It is read for two forms, a terminal and HTML, and for its links.

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading, its level from 1 to 6.
    Heading {
        /// Level.
        level: usize,
        /// Text with its marks.
        text: String,
    },
    /// Lines that are one text.
    Paragraph(String),
    /// What stands in a fence or is indented.
    Code(String),
    /// An entry of a list: how deep it is, what stands before it (`-`, `1.`), its text.
    Item {
        /// 0 for the outermost list.
        depth: usize,
        /// The mark.
        mark: String,
        /// Text with its marks.
        text: String,
    },
    /// A table, its first row the header.
    Table(Vec<Vec<String>>),
    /// A text that is quoted.
    Quote(String),
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// As it is.
    Text(String),
    /// A word of a program.
    Code(String),
    /// Emphasis, strong or not.
    Emphasis(String, bool),
    /// A link: its text and where it leads.
    Link(String, String),
    /// A picture: what it shows and where it lies.
    Image(String, String),
}

/// The blocks of a page.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut lines = page.lines();
    // Whether the line before lets a text go on, and whether it was indented code.
    let mut open = false;
    let mut in_code = false;
    while let Some(line) = lines.next() {
        let after_code = std::mem::take(&mut in_code);
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(fence) = trimmed.strip_prefix("```").map(|_| "```") {
            let body = lines.by_ref().take_while(|line| line.trim() != fence);
            let body: Vec<&str> = body
                .map(|line| line.get(indent.min(line.len() - line.trim_start().len())..))
                .map(Option::unwrap_or_default)
                .collect();
            found.push(Block::Code(body.join("\n")));
            open = false;
        } else if trimmed.is_empty() {
            open = false;
        } else if let Some((level, text)) = heading(line) {
            found.push(Block::Heading {
                level,
                text: text.to_owned(),
            });
            open = false;
        } else if trimmed.starts_with('|') {
            let row = cells(trimmed);
            match found.last_mut() {
                Some(Block::Table(rows)) if open => {
                    if !(is_rule(&row) && rows.len() == 1) {
                        rows.push(row);
                    }
                }
                _ => found.push(Block::Table(vec![row])),
            }
            open = true;
        } else if let Some((mark, text)) = item(trimmed) {
            found.push(Block::Item {
                depth: indent / 2,
                mark: mark.to_owned(),
                text: text.to_owned(),
            });
            open = true;
        } else if let Some(text) = trimmed.strip_prefix('>') {
            match found.last_mut() {
                Some(Block::Quote(quote)) if open => join(quote, text.trim()),
                _ => found.push(Block::Quote(text.trim().to_owned())),
            }
            open = true;
        } else if open
            && let Some(Block::Paragraph(text) | Block::Item { text, .. } | Block::Quote(text)) =
                found.last_mut()
        {
            join(text, trimmed);
        } else if indent >= 4 {
            match found.last_mut() {
                Some(Block::Code(code)) if after_code => {
                    code.push('\n');
                    code.push_str(&line[4..]);
                }
                _ => found.push(Block::Code(line[4..].to_owned())),
            }
            in_code = true;
        } else if indent >= 2
            && let Some(Block::Item { text, .. }) = found.last_mut()
        {
            // Another paragraph of an entry.
            join(text, trimmed);
            open = true;
        } else {
            found.push(Block::Paragraph(trimmed.to_owned()));
            open = true;
        }
    }
    found
}

fn join(text: &mut String, more: &str) {
    text.push(' ');
    text.push_str(more);
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line.get(level..)?.strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, text.trim()))
}

/// The mark of an entry of a list and the text behind it.
fn item(line: &str) -> Option<(&str, &str)> {
    for mark in ["- ", "* "] {
        if let Some(text) = line.strip_prefix(mark) {
            return Some(("-", text.trim_start()));
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let text = line.get(digits..)?.strip_prefix(". ")?;
    (1..=3)
        .contains(&digits)
        .then(|| (&line[..=digits], text.trim_start()))
}

fn push(cells: &mut [String], character: char) {
    if let Some(cell) = cells.last_mut() {
        cell.push(character);
    }
}

/// Whether a row stands between a table's header and its other rows.
#[must_use]
pub fn is_rule(row: &[String]) -> bool {
    let is_line = |cell: &String| !cell.is_empty() && cell.bytes().all(|it| b"-: ".contains(&it));
    !row.is_empty() && row.iter().all(is_line)
}

/// The cells of a row, which begins with `|`. `\|` is no border.
#[must_use]
pub fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let mut cells = vec![String::new()];
    let mut characters = row.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.peek() == Some(&'|') {
            characters.next();
            push(&mut cells, '|');
        } else if character == '|' {
            cells.push(String::new());
        } else {
            push(&mut cells, character);
        }
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The pieces of a text.
#[must_use]
pub fn spans(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((span, length)) = span(rest, plain.chars().next_back()) {
            if !plain.is_empty() {
                found.push(Span::Text(std::mem::take(&mut plain)));
            }
            found.push(span);
            rest = &rest[length..];
            continue;
        }
        let mut length = first.len_utf8();
        // A mark that is meant as it is.
        if first == '\\' && rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) {
            plain.push_str(&rest[1..2]);
            length = 2;
        } else {
            plain.push(first);
        }
        rest = &rest[length..];
    }
    if !plain.is_empty() {
        found.push(Span::Text(plain));
    }
    found
}

/// The piece with marks that a text begins with, and its length.
fn span(text: &str, before: Option<char>) -> Option<(Span, usize)> {
    if text.starts_with('`') {
        let ticks = text.bytes().take_while(|byte| *byte == b'`').count();
        let fence = &text[..ticks];
        let end = text[ticks..].find(fence)?;
        let code = &text[ticks..ticks + end];
        let code = if ticks > 1 { code.trim() } else { code };
        return Some((Span::Code(code.to_owned()), end + 2 * ticks));
    }
    if let Some(inner) = text.strip_prefix("![") {
        let (shown, target, length) = link(inner)?;
        return Some((Span::Image(shown, target), length + 2));
    }
    if let Some(inner) = text.strip_prefix('[') {
        let (shown, target, length) = link(inner)?;
        return Some((Span::Link(shown, target), length + 1));
    }
    let inside_word = before.is_some_and(char::is_alphanumeric);
    for (mark, strong) in [("**", true), ("*", false), ("_", false)] {
        let Some(inner) = text.strip_prefix(mark) else {
            continue;
        };
        let begins = inner.starts_with(|c: char| !c.is_whitespace() && c != '*');
        let end = inner.find(mark)?;
        let ends = !inner[..end].ends_with(char::is_whitespace);
        // `a * b` and `snake_case` have no emphasis.
        if begins && ends && end > 0 && !inside_word {
            let shown = inner[..end].to_owned();
            return Some((Span::Emphasis(shown, strong), end + 2 * mark.len()));
        }
        return None;
    }
    None
}

/// What follows the bracket of a link: its text, its target, and how long that is.
fn link(inner: &str) -> Option<(String, String, usize)> {
    let middle = inner.find("](")?;
    let shown = &inner[..middle];
    // Not a bracket far before somebody else's link.
    if shown.contains('[') && !shown.contains(']') {
        return None;
    }
    let target = &inner[middle + 2..];
    let end = target.find(')')?;
    Some((
        shown.to_owned(),
        target[..end].to_owned(),
        middle + 2 + end + 1,
    ))
}

/// A text without marks.
#[must_use]
pub fn plain(text: &str) -> String {
    let pieces = spans(text).into_iter().map(|span| match span {
        Span::Text(text) | Span::Code(text) => text,
        Span::Emphasis(text, _) | Span::Link(text, _) | Span::Image(text, _) => plain(&text),
    });
    pieces.collect()
}

/// The anchor that a heading has: lower case, dashes for spaces, no other marks.
#[must_use]
pub fn anchor(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            other => other.is_alphanumeric().then_some(other),
        })
        .collect()
}

/// The anchors of a page's headings in their order; the second of a name gets a number.
#[must_use]
pub fn anchors(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut bare: Vec<String> = Vec::new();
    for block in blocks(page) {
        if let Block::Heading { text, .. } = block {
            let own = anchor(&plain(&text));
            let before = bare.iter().filter(|other| **other == own).count();
            found.push(match before {
                0 => own.clone(),
                more => format!("{own}-{more}"),
            });
            bare.push(own);
        }
    }
    found
}

/// Where the links and pictures of a page lead.
#[must_use]
pub fn links(page: &str) -> Vec<String> {
    fn of(text: &str, found: &mut Vec<String>) {
        for span in spans(text) {
            match span {
                Span::Link(shown, target) | Span::Image(shown, target) => {
                    of(&shown, found);
                    found.push(target);
                }
                Span::Emphasis(text, _) => of(&text, found),
                Span::Text(_) | Span::Code(_) => {}
            }
        }
    }
    let mut found = Vec::new();
    for block in blocks(page) {
        match block {
            Block::Heading { text, .. }
            | Block::Paragraph(text)
            | Block::Item { text, .. }
            | Block::Quote(text) => of(&text, &mut found),
            Block::Table(rows) => {
                for cell in rows.iter().flatten() {
                    of(cell, &mut found);
                }
            }
            Block::Code(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Block, Span, anchor, anchors, blocks, links, plain, spans};

    #[test]
    fn blocks_are_told_apart() {
        let page = "# A *title*\n\nOne\ntwo.\n\n- a\n  goes on\n  - b\n1. c\n\n| x | y |\n| --- | --: |\n| `a\\|b` | |\n\n```uc\n# no heading\n\ncode\n```\n    more\n    of it\n\n> said\n> so\n";
        let item = |depth, mark: &str, text: &str| Block::Item {
            depth,
            mark: mark.into(),
            text: text.into(),
        };
        let row = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        assert_eq!(
            blocks(page),
            [
                Block::Heading {
                    level: 1,
                    text: "A *title*".into()
                },
                Block::Paragraph("One two.".into()),
                item(0, "-", "a goes on"),
                item(1, "-", "b"),
                item(0, "1.", "c"),
                Block::Table(vec![row(&["x", "y"]), row(&["`a|b`", ""])]),
                Block::Code("# no heading\n\ncode".into()),
                Block::Code("more\nof it".into()),
                Block::Quote("said so".into()),
            ]
        );
    }

    #[test]
    fn spans_are_told_apart() {
        let text = |text: &str| Span::Text(text.into());
        assert_eq!(
            spans("a *b* **c** `d*e*` [f `g`](h.md#i) snake_case_x 2 * 3 * 4 \\*"),
            [
                text("a "),
                Span::Emphasis("b".into(), false),
                text(" "),
                Span::Emphasis("c".into(), true),
                text(" "),
                Span::Code("d*e*".into()),
                text(" "),
                Span::Link("f `g`".into(), "h.md#i".into()),
                text(" snake_case_x 2 * 3 * 4 *"),
            ]
        );
        assert_eq!(plain("a [b `c`](d) ![e](f)"), "a b c e");
        assert_eq!(
            spans("`` a`b `` [x] ("),
            [Span::Code("a`b".into()), text(" [x] (")]
        );
        assert_eq!(links("[a](b) `[c](d)`\n\n| [e](f) |\n"), ["b", "f"]);
    }

    #[test]
    fn anchors_are_those_of_the_book() {
        assert_eq!(
            anchor("What the `[[goal]]` says, in short"),
            "what-the-goal-says-in-short"
        );
        assert_eq!(anchors("# A\n\n## A\n\n## B c\n"), ["a", "a-1", "b-c"]);
    }
}
