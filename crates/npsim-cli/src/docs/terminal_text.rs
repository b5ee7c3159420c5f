//! Renders pages for a terminal: wrapped to its width, with styles that are dropped for plain
//! output.

use std::fmt::Write as _;

use super::markdown::{Block, RichText, Span, plain};
use crate::fold::folded;

const BOLD: &str = "\x1b[1m";
const UNDERLINE: &str = "\x1b[4m";
const CYAN: &str = "\x1b[36m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";
/// The widest line, in columns, that is pleasant to read.
const MAX_COLUMNS: usize = 96;
/// The narrowest width, in columns, in which wrapped text is readable.
const MIN_COLUMNS: usize = 30;
/// The indentation of code.
const CODE: &str = "    ";
/// The shell's line continuation.
const CONTINUATION: &str = " \\";

/// Renders blocks in lines of at most `columns` columns, where words and code allow it.
#[must_use]
pub fn render(blocks: &[Block], columns: usize) -> String {
    // Code may use the whole width.
    let code_columns = columns.max(MIN_COLUMNS) - CODE.len();
    let columns = columns.clamp(MIN_COLUMNS, MAX_COLUMNS);
    let mut out = String::new();
    let mut in_list = false;
    for block in blocks {
        let is_item = matches!(block, Block::Item { .. });
        let goes_on = is_item && in_list;
        if !out.is_empty() && !goes_on {
            out.push('\n');
        }
        in_list = is_item;
        match block {
            Block::Heading { level, text } => {
                let style = if *level == 1 { UNDERLINE } else { "" };
                let text = plain(text);
                for line in wrap(&words_of(&text), columns, "", "") {
                    let _ = writeln!(out, "{BOLD}{style}{line}{RESET}");
                }
            }
            Block::Paragraph(text) => lines(&mut out, text, columns, "", ""),
            Block::Quote(text) => lines(&mut out, text, columns, "  | ", "  | "),
            Block::Item { depth, mark, text } => {
                let first = format!("{}{mark} ", "  ".repeat(*depth));
                let rest = " ".repeat(first.len());
                lines(&mut out, text, columns, &first, &rest);
            }
            Block::Code(code) => {
                for line in code.lines().flat_map(|line| code_lines(line, code_columns)) {
                    if !line.is_empty() {
                        let _ = write!(out, "{CODE}{CYAN}{line}{RESET}");
                    }
                    out.push('\n');
                }
            }
            Block::Table(rows) => table(&mut out, rows, columns),
        }
    }
    out
}

/// Breaks a line of code into lines of at most `columns` columns, where its words allow it. A
/// broken shell command remains one command, and one with quotes is not broken.
fn code_lines(line: &str, columns: usize) -> Vec<String> {
    let command = line.starts_with("$ ");
    let fits = line.chars().count() <= columns;
    if fits || (command && line.contains(['\'', '"'])) {
        return vec![line.to_owned()];
    }
    let mark = if command { CONTINUATION } else { "" };
    let room = columns.saturating_sub(CODE.len() + mark.len());
    let text = folded(line, room);
    let count = text.lines().count();
    let lines = text.lines().enumerate().map(|(at, piece)| {
        let before = if at == 0 { "" } else { CODE };
        let behind = if at + 1 == count { "" } else { mark };
        format!("{before}{piece}{behind}")
    });
    lines.collect()
}

/// Wraps unformatted text in lines of at most `columns` columns, with the prefix `first` on the
/// first line and `rest` on the others.
#[must_use]
pub fn wrapped(text: &str, columns: usize, first: &str, rest: &str) -> Vec<String> {
    wrap(&words_of(text), columns, first, rest)
}

fn lines(out: &mut String, text: &[Span], columns: usize, first: &str, rest: &str) {
    for line in wrap(&words(text), columns, first, rest) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// A word with its style, and its width in columns.
#[derive(Clone, Debug)]
struct StyledWord {
    shown: String,
    columns: usize,
    /// Whether it directly follows the previous word, without a space.
    joined: bool,
}

fn words_of(text: &str) -> Vec<StyledWord> {
    text.split_whitespace()
        .map(|word| StyledWord {
            shown: word.to_owned(),
            columns: word.chars().count(),
            joined: false,
        })
        .collect()
}

fn words(text: &[Span]) -> Vec<StyledWord> {
    let mut words: Vec<StyledWord> = Vec::new();
    let mut open = false;
    for span in text {
        let (text, style) = match span {
            Span::Text(text) => (text.clone(), ""),
            Span::Code(text) => (text.clone(), CYAN),
            Span::Emphasis(text, strong) => (plain(text), if *strong { BOLD } else { UNDERLINE }),
            Span::Link(text, target) => {
                let text = plain(text);
                // The book's own pages can be looked up with `npsim docs`; other targets are
                // shown.
                let shown = if target.starts_with("http") && *target != text {
                    format!("{text} ({target})")
                } else {
                    text
                };
                (shown, "")
            }
            Span::Image(text, _) => (format!("[picture: {}]", plain(text)), DIM),
        };
        let begins_apart = text.starts_with(char::is_whitespace);
        let ends_apart = text.ends_with(char::is_whitespace);
        let mut joined = open && !begins_apart;
        for word in text.split_whitespace() {
            words.push(StyledWord {
                shown: if style.is_empty() {
                    word.to_owned()
                } else {
                    format!("{style}{word}{RESET}")
                },
                columns: word.chars().count(),
                joined,
            });
            joined = false;
        }
        open = !ends_apart && !words.is_empty();
    }
    words
}

/// Breaks words into lines, with the prefix `first` on the first line and `rest` on the others.
fn wrap(words: &[StyledWord], columns: usize, first: &str, rest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut line = first.to_owned();
    let mut width = first.chars().count();
    let mut empty = true;
    let mut at = 0;
    while at < words.len() {
        // Joined words stay on one line.
        let end = at
            + 1
            + words[at + 1..]
                .iter()
                .take_while(|word| word.joined)
                .count();
        let group = &words[at..end];
        let own: usize = group.iter().map(|word| word.columns).sum();
        let gap = usize::from(!empty);
        if !empty && width + gap + own > columns {
            found.push(std::mem::replace(&mut line, rest.to_owned()));
            width = rest.chars().count();
        } else if gap == 1 {
            line.push(' ');
            width += 1;
        }
        for word in group {
            line.push_str(&word.shown);
        }
        width += own;
        empty = false;
        at = end;
    }
    found.push(line);
    found
}

/// Renders a table with its columns side by side if they fit, else one entry per row.
fn table(out: &mut String, rows: &[Vec<RichText>], columns: usize) {
    const GAP: usize = 2;
    /// The narrowest readable column.
    const MIN_COLUMN_WIDTH: usize = 24;
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| plain(cell).chars().count())
            .max()
            .unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..count).map(width_of).collect();
    let gaps = GAP * count.saturating_sub(1);
    // The widest columns are narrowed first.
    while widths.iter().sum::<usize>() + gaps > columns {
        let widest = widths.iter().copied().enumerate().max_by_key(|it| it.1);
        match widest {
            Some((at, width)) if width > MIN_COLUMN_WIDTH => widths[at] -= 1,
            _ => return entries(out, rows, columns),
        }
    }
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<Vec<String>> = widths
            .iter()
            .enumerate()
            .map(|(at, width)| {
                let text = row.get(at).map_or(&[][..], Vec::as_slice);
                wrap(&words(text), *width, "", "")
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let mut shown = String::new();
            for (at, width) in widths.iter().enumerate() {
                let cell = cells[at].get(line).map_or("", String::as_str);
                shown.push_str(cell);
                if at + 1 < count {
                    let used = anstream::adapter::strip_str(cell).to_string();
                    let used = used.chars().count();
                    shown.push_str(&" ".repeat(width.saturating_sub(used) + GAP));
                }
            }
            out.push_str(shown.trim_end());
            out.push('\n');
        }
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(out, "{DIM}{}{RESET}", rule.join(&" ".repeat(GAP)));
        }
    }
}

/// Renders a table that is too wide: for each row its first cell, with the other cells below it.
fn entries(out: &mut String, rows: &[Vec<RichText>], columns: usize) {
    for row in rows.iter().skip(1) {
        let Some((first, others)) = row.split_first() else {
            continue;
        };
        lines(out, first, columns, "", "  ");
        for cell in others.iter().filter(|cell| !cell.is_empty()) {
            lines(out, cell, columns, "    ", "    ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::docs::markdown::blocks;
    use crate::docs::pages;

    fn shown(page: &str, columns: usize) -> String {
        anstream::adapter::strip_str(&render(&blocks(page), columns)).to_string()
    }

    #[test]
    fn lines_are_wrapped_between_words_and_lists_are_indented() {
        let page = "# T\n\nOne two three four `five`, six seven eight.\n\n- alpha beta gamma delta epsilon\n";
        assert_eq!(
            shown(page, 30),
            "T\n\nOne two three four five, six\nseven eight.\n\n- alpha beta gamma delta\n  epsilon\n"
        );
    }

    #[test]
    fn code_is_wrapped_and_tables_are_aligned() {
        let page = "```uc\n  a very long line of code that is wider than the terminal\n```\n\n```console\n$ npsim run some-firmware.uc --until 1ms\n```\n\n| key | what |\n| --- | --- |\n| `id` | a number of the thing that is meant |\n";
        assert_eq!(
            shown(page, 36),
            "      a very long line of code\n          that is wider than the\n          terminal\n\n    $ npsim run \\\n        some-firmware.uc --until \\\n        1ms\n\nkey  what\n---  -------------------------------\nid   a number of the thing that is\n     meant\n"
        );
    }

    #[test]
    fn every_page_fits_the_width() {
        for page in pages() {
            let all = blocks(page.text);
            for columns in [40, 80, 200] {
                let text = anstream::adapter::strip_str(&render(&all, columns)).to_string();
                let longest = |line: &str| line.split(' ').map(|word| word.chars().count()).max();
                // A row may be as wide as the longest words in its columns, including those of
                // other rows.
                let in_rows = { text.lines() }
                    .filter(|line| line.trim().contains("  "))
                    .filter_map(longest)
                    .max();
                for line in text.lines() {
                    let row = line.trim().contains("  ");
                    let longest = if row { in_rows } else { longest(line) };
                    let width = line.chars().count();
                    // A word may be longer than a line, and quoted text counts as one word.
                    let code = line.starts_with(super::CODE);
                    let most = if code {
                        columns
                    } else {
                        columns.min(super::MAX_COLUMNS)
                    };
                    let fits = width <= most
                        || code && line.trim().starts_with("$ ") && line.contains(['\'', '"'])
                        || code && !line.trim().contains(' ')
                        || longest.unwrap_or(0) + 8 > columns.min(super::MAX_COLUMNS) / 2;
                    assert!(fits, "{} at {columns}: {line}", page.name);
                }
            }
        }
    }
}
