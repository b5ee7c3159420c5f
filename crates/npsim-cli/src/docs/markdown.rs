//! Parses a page of the book into blocks for a terminal, and finds its links and the anchors of
//! its headings.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Text as a sequence of spans.
pub type RichText = Vec<Span>;

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading.
    Heading {
        /// The level, from 1 to 6.
        level: usize,
        /// The text.
        text: RichText,
    },
    /// A paragraph.
    Paragraph(RichText),
    /// A fenced or indented code block.
    Code(String),
    /// An entry of a list.
    Item {
        /// The nesting depth: 0 for the outermost list.
        depth: usize,
        /// The marker: `-`, or a number such as `1.`.
        mark: String,
        /// The text.
        text: RichText,
    },
    /// A table, its first row the header.
    Table(Vec<Vec<RichText>>),
    /// A quotation.
    Quote(RichText),
}

/// A span of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Plain text.
    Text(String),
    /// Inline code.
    Code(String),
    /// Emphasis, and whether it is strong.
    Emphasis(RichText, bool),
    /// A link: its text and target.
    Link(RichText, String),
    /// A picture: its description and path.
    Image(RichText, String),
}

/// A parser for the Markdown dialect of the book.
#[must_use]
pub fn parser(page: &str) -> Parser<'_> {
    Parser::new_ext(page, Options::ENABLE_TABLES)
}

/// The blocks of a page.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block> {
    let mut events = parser(page);
    let mut found: Vec<Block> = Vec::new();
    // For each open list, the number of its next entry, if it is numbered.
    let mut lists: Vec<Option<u64>> = Vec::new();
    let mut quoted = false;
    while let Some(event) = events.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => found.push(Block::Heading {
                level: level as usize,
                text: text(&mut events),
            }),
            Event::Start(Tag::BlockQuote(_)) => {
                found.push(Block::Quote(RichText::new()));
                quoted = true;
            }
            Event::End(TagEnd::BlockQuote(_)) => quoted = false,
            Event::Start(Tag::Paragraph) => match found.last_mut() {
                // Further paragraphs of an entry or a quotation are appended to it.
                Some(Block::Item { text, .. } | Block::Quote(text))
                    if quoted || !lists.is_empty() =>
                {
                    if !text.is_empty() {
                        push(text, " ");
                    }
                }
                _ => found.push(Block::Paragraph(RichText::new())),
            },
            Event::Start(Tag::List(first)) => lists.push(first),
            Event::End(TagEnd::List(_)) => {
                lists.pop();
            }
            Event::Start(Tag::Item) => found.push(item(&mut lists)),
            Event::Start(Tag::CodeBlock(_)) => {
                let code = plain(&text(&mut events));
                found.push(Block::Code(code.trim_end_matches('\n').to_owned()));
            }
            Event::Start(Tag::Table(_)) => found.push(Block::Table(Vec::new())),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                if let Some(Block::Table(rows)) = found.last_mut() {
                    rows.push(Vec::new());
                }
            }
            Event::Start(Tag::TableCell) => {
                let cell = text(&mut events);
                if let Some(Block::Table(rows)) = found.last_mut()
                    && let Some(row) = rows.last_mut()
                {
                    row.push(cell);
                }
            }
            other => {
                if let Some(
                    Block::Paragraph(text) | Block::Item { text, .. } | Block::Quote(text),
                ) = found.last_mut()
                {
                    piece(other, &mut events, text);
                }
            }
        }
    }
    found
}

/// Begins the next entry of the innermost list.
fn item(lists: &mut [Option<u64>]) -> Block {
    let depth = lists.len().saturating_sub(1);
    let mark = match lists.last_mut() {
        Some(Some(number)) => {
            *number += 1;
            format!("{}.", *number - 1)
        }
        Some(None) | None => "-".to_owned(),
    };
    Block::Item {
        depth,
        mark,
        text: RichText::new(),
    }
}

/// Reads text up to the end of the current element.
fn text(events: &mut Parser<'_>) -> RichText {
    let mut found = RichText::new();
    while let Some(event) = events.next() {
        if matches!(event, Event::End(_)) {
            break;
        }
        piece(event, events, &mut found);
    }
    found
}

/// Appends the text of an event.
fn piece(event: Event<'_>, events: &mut Parser<'_>, to: &mut RichText) {
    match event {
        Event::Text(more) | Event::InlineHtml(more) | Event::Html(more) => push(to, &more),
        Event::SoftBreak | Event::HardBreak => push(to, " "),
        Event::Code(code) => to.push(Span::Code(code.into_string())),
        Event::Start(Tag::Emphasis) => to.push(Span::Emphasis(text(events), false)),
        Event::Start(Tag::Strong) => to.push(Span::Emphasis(text(events), true)),
        Event::Start(Tag::Link { dest_url, .. }) => {
            to.push(Span::Link(text(events), dest_url.into_string()));
        }
        Event::Start(Tag::Image { dest_url, .. }) => {
            to.push(Span::Image(text(events), dest_url.into_string()));
        }
        // The book uses no other elements.
        _ => {}
    }
}

fn push(text: &mut RichText, more: &str) {
    if let Some(Span::Text(last)) = text.last_mut() {
        last.push_str(more);
    } else {
        text.push(Span::Text(more.to_owned()));
    }
}

/// The text without formatting.
#[must_use]
pub fn plain(text: &[Span]) -> String {
    let pieces = text.iter().map(|span| match span {
        Span::Text(text) | Span::Code(text) => text.clone(),
        Span::Emphasis(text, _) | Span::Link(text, _) | Span::Image(text, _) => plain(text),
    });
    pieces.collect()
}

/// A table in its Markdown source.
#[derive(Debug)]
pub struct PageTable<'page> {
    /// The heading above it, in Markdown, without `#`.
    pub heading: &'page str,
    /// The byte range of the table in its page.
    pub place: Range<usize>,
    /// The cells, with the header row first.
    pub rows: Vec<Vec<String>>,
}

/// The tables of a page.
#[must_use]
pub fn tables(page: &str) -> Vec<PageTable<'_>> {
    let mut found: Vec<PageTable<'_>> = Vec::new();
    let mut heading = "";
    for (event, place) in parser(page).into_offset_iter() {
        match (event, found.last_mut()) {
            (Event::Start(Tag::Heading { .. }), _) => {
                heading = page[place].trim_start_matches('#').trim();
            }
            (Event::Start(Tag::Table(_)), _) => found.push(PageTable {
                heading,
                place,
                rows: Vec::new(),
            }),
            (Event::Start(Tag::TableHead | Tag::TableRow), Some(table)) => {
                table.rows.push(Vec::new());
            }
            (Event::Start(Tag::TableCell), Some(table)) => {
                let cell = page[place].trim().replace("\\|", "|");
                if let Some(row) = table.rows.last_mut() {
                    row.push(cell);
                }
            }
            _ => {}
        }
    }
    found
}

/// The anchor of a heading: in lower case, with dashes for spaces and without punctuation.
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

/// The anchors of a page's headings, in order; repeated ones are numbered.
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

/// The targets of the links and pictures of a page.
#[must_use]
pub fn links(page: &str) -> Vec<String> {
    let targets = parser(page).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    });
    targets.collect()
}

#[cfg(test)]
mod tests {
    use super::{Block, RichText, Span, anchor, anchors, blocks, links, plain, tables};

    fn text(text: &str) -> RichText {
        let span = Span::Text(text.into());
        if text.is_empty() {
            RichText::new()
        } else {
            vec![span]
        }
    }

    #[test]
    fn block_kinds_are_distinguished() {
        let page = "# A title\n\nOne\ntwo.\n\n- a\n  goes on\n\n  and on\n  - b\n\n3. c\n4. d\n\n| x | y |\n| --- | --: |\n| a\\|b | |\n\n```uc\n# no heading\n\ncode\n```\n\n    more\n    of it\n\n> said\n> so\n";
        let item = |depth, mark: &str, it: &str| Block::Item {
            depth,
            mark: mark.into(),
            text: text(it),
        };
        let row = |cells: &[&str]| cells.iter().map(|cell| text(cell)).collect();
        assert_eq!(
            blocks(page),
            [
                Block::Heading {
                    level: 1,
                    text: text("A title")
                },
                Block::Paragraph(text("One two.")),
                item(0, "-", "a goes on and on"),
                item(1, "-", "b"),
                item(0, "3.", "c"),
                item(0, "4.", "d"),
                Block::Table(vec![row(&["x", "y"]), row(&["a|b", ""])]),
                Block::Code("# no heading\n\ncode".into()),
                Block::Code("more\nof it".into()),
                Block::Quote(text("said so")),
            ]
        );
    }

    #[test]
    fn table_cells_keep_their_markup() {
        let page = "## `T`\n\n| `x` | y |\n| --- | --- |\n| `a\\|b` | *c* |\n\nText\n";
        let table = tables(page).remove(0);
        assert_eq!(table.heading, "`T`");
        assert!(page[table.place].starts_with("| `x`"));
        assert_eq!(table.rows, [["`x`", "y"], ["`a|b`", "*c*"]]);
    }

    #[test]
    fn plain_text_has_no_markup() {
        let [Block::Paragraph(text)] = &blocks("a *[b `c`](d)* ![e](f) snake_case_x 2 * 3 \\*")[..]
        else {
            panic!("one paragraph");
        };
        assert_eq!(plain(text), "a b c e snake_case_x 2 * 3 *");
        assert_eq!(links("[a](b) `[c](d)`\n\n| [e](f) |\n"), ["b", "f"]);
    }

    #[test]
    fn anchors_match_the_book() {
        assert_eq!(
            anchor("What the `[[goal]]` says, in short"),
            "what-the-goal-says-in-short"
        );
        assert_eq!(anchors("# A\n\n## A\n\n## B c\n"), ["a", "a-1", "b-c"]);
    }
}
