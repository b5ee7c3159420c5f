//! The program at the context's position, with the macros that were stepped into expanded in
//! place.

use crate::theme::Theme;
use npsim_debug::Debugger;
use npsim_debug::breakpoints::{Breakpoint, BreakpointKind};
use npsim_debug::console::Sources;
use npsim_debug::source::{self, SourceFrame};
use ratatui::text::{Line, Span};

use super::{PaneContext, file_name};

/// The number of lines shown around a line whose macro is not found in its file.
const AROUND: usize = 6;
/// The width of a tab, in columns.
const TAB: usize = 8;

/// The place that a row shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowPlace {
    /// A line of a source file.
    Line(String, u32),
    /// A word, if there is no source.
    Word(u16),
}

/// Whether the context is at a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExecutionMark {
    Elsewhere,
    /// In a macro that this line uses.
    Within,
    Here,
}

/// A row of the pane.
#[derive(Clone, Debug)]
pub(crate) struct SourceRow {
    pub place: RowPlace,
    pub text: String,
    depth: usize,
    execution_mark: ExecutionMark,
}

/// The open frames, outermost first.
fn open_frames(debugger: &Debugger, folded: bool) -> Vec<SourceFrame> {
    let mut frames = debugger.frames(debugger.thread());
    frames.reverse();
    if folded {
        frames.truncate(1);
    }
    frames
}

/// All rows, and the index of the one at which the context is.
pub(crate) fn rows(
    debugger: &Debugger,
    sources: Sources<'_>,
    folded: bool,
) -> (Vec<SourceRow>, usize) {
    let frames = open_frames(debugger, folded);
    let mut rows = Vec::new();
    add(sources, &frames, 0, &mut rows);
    if rows.is_empty() {
        words(debugger, &mut rows);
    }
    let here = rows
        .iter()
        .position(|it| it.execution_mark == ExecutionMark::Here);
    (rows, here.unwrap_or(0))
}

/// Adds the lines of a frame, with those of the next frame after its line.
fn add(sources: Sources<'_>, frames: &[SourceFrame], depth: usize, rows: &mut Vec<SourceRow>) {
    let Some((frame, inner)) = frames.split_first() else {
        return;
    };
    let Some(text) = sources(&frame.file) else {
        return;
    };
    let lines: Vec<_> = text.lines().collect();
    let at = (frame.line as usize).saturating_sub(1);
    let (first, last) = if depth == 0 {
        (0, lines.len())
    } else {
        definition(&lines, at)
    };
    for (index, text) in lines.iter().enumerate().take(last).skip(first) {
        let execution_mark = match (index == at, inner.is_empty()) {
            (false, _) => ExecutionMark::Elsewhere,
            (true, false) => ExecutionMark::Within,
            (true, true) => ExecutionMark::Here,
        };
        rows.push(SourceRow {
            place: RowPlace::Line(frame.file.clone(), index as u32 + 1),
            text: without_tabs(text),
            depth,
            execution_mark,
        });
        if execution_mark == ExecutionMark::Within {
            add(sources, inner, depth + 1, rows);
        }
    }
}

/// The lines of the macro that contains a line: from `#macro` to `#endm`.
fn definition(lines: &[&str], at: usize) -> (usize, usize) {
    let directive = |line: &&str, name: &str| {
        let rest = line.trim_start().strip_prefix('#');
        rest.is_some_and(|it| it.trim_start().starts_with(name))
    };
    let before = lines.get(..=at).unwrap_or_default();
    let first = before.iter().rposition(|it| directive(it, "macro"));
    let ends = |it: &&str| directive(it, "endm");
    let whole = first.filter(|first| !before[*first..at.min(before.len())].iter().any(ends));
    let Some(first) = whole else {
        let last = (at + AROUND + 1).min(lines.len());
        return (at.saturating_sub(AROUND).min(last), last);
    };
    let last = lines[at..].iter().position(ends);
    (first, last.map_or(lines.len(), |last| at + last + 1))
}

fn without_tabs(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in text.trim_end().chars() {
        let blanks = if c == '\t' { TAB - column % TAB } else { 0 };
        match blanks {
            0 if c.is_control() => out.push('�'),
            0 => out.push(c),
            _ => out.extend(std::iter::repeat_n(' ', blanks)),
        }
        column += blanks.max(1);
    }
    out
}

/// Adds the words of a program without source.
fn words(debugger: &Debugger, rows: &mut Vec<SourceRow>) {
    let thread = debugger.thread();
    let Some(image) = debugger.image(thread.me) else {
        return;
    };
    let pc = debugger.pc(thread);
    rows.extend((0..image.words.len() as u16).map(|at| {
        let word = image.words[usize::from(at)];
        let text = image.instruction(at);
        SourceRow {
            place: RowPlace::Word(at),
            text: text.map_or_else(|| format!(".word {word:#012x}"), |it| it.to_string()),
            depth: 0,
            execution_mark: if at == pc {
                ExecutionMark::Here
            } else {
                ExecutionMark::Elsewhere
            },
        }
    }));
}

/// Whether a breakpoint stops at a row.
pub(crate) fn stops_at(debugger: &Debugger, point: &Breakpoint, place: &RowPlace) -> bool {
    let places = match &point.what {
        BreakpointKind::Code(places) => places.as_slice(),
        BreakpointKind::Core(_) => &[],
        BreakpointKind::Watch { .. } | BreakpointKind::CoreWord(_) => return false,
    };
    let me = debugger.thread().me;
    match place {
        RowPlace::Word(pc) => places.contains(&(me, *pc)),
        RowPlace::Line(file, line) => match &point.line {
            Some((its, number)) => its == file && number == line,
            // For an address or a label, the innermost line of its words counts.
            None => places.iter().any(|(me, pc)| {
                let image = debugger.image(*me);
                let frames = image.map(|image| source::frames(image, *pc));
                let first = frames.as_ref().and_then(|it| it.first());
                first.is_some_and(|it| it.file == *file && it.line == *line)
            }),
        },
    }
}

/// The context's position, through all open macros.
pub(crate) fn heading(look: &PaneContext<'_>) -> String {
    let frames = open_frames(look.debugger, look.view.folded);
    let mut parts: Vec<_> = (0..)
        .zip(&frames)
        .map(|(depth, frame)| {
            let at = format!("{}:{}", file_name(&frame.file), frame.line);
            if depth == 0 {
                at
            } else {
                format!("{} {at}", frame.name)
            }
        })
        .collect();
    if frames.iter().all(|it| it.file.is_empty()) {
        let thread = look.debugger.thread();
        parts = vec![format!("address {}", look.debugger.pc(thread))];
    } else if look.debugger.has_closed_macros() || look.view.folded {
        parts.push("…".to_owned());
    }
    parts.join(" › ")
}

/// The rows that fit, around the chosen one or the context's.
pub(crate) fn lines(look: &PaneContext<'_>, width: u16, height: u16) -> Vec<Line<'static>> {
    let theme = look.theme;
    let (rows, here) = rows(look.debugger, look.sources, look.view.folded);
    let height = usize::from(height);
    let middle = look.view.line.unwrap_or(here).min(rows.len().max(1) - 1);
    let last_top = rows.len().saturating_sub(height);
    let top = middle.saturating_sub(height / 2).min(last_top);
    let sought = look.view.search.last().unwrap_or("");
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate().skip(top).take(height) {
        let points = look.debugger.breakpoints().iter();
        let point = points
            .clone()
            .find(|it| stops_at(look.debugger, it, &row.place));
        let sign = point.map_or(" ", |it| match (it.enabled, it.log.is_some()) {
            (false, _) => "○",
            (true, true) => "◆",
            (true, false) => "●",
        });
        let arrow = match row.execution_mark {
            ExecutionMark::Here => "▶",
            ExecutionMark::Within => "▷",
            ExecutionMark::Elsewhere => " ",
        };
        let number = match &row.place {
            RowPlace::Line(_, line) => format!("{line:>4} "),
            RowPlace::Word(at) => format!("{at:>4} "),
        };
        let style = match row.execution_mark {
            ExecutionMark::Here => theme.current(),
            ExecutionMark::Within => Theme::STRONG,
            ExecutionMark::Elsewhere => ratatui::style::Style::new(),
        };
        let mut spans = vec![
            Span::styled(sign, theme.alarm()),
            Span::styled(arrow, theme.current()),
            Span::styled(number, Theme::FAINT),
            Span::styled("│ ".repeat(row.depth), Theme::FAINT),
        ];
        let (code, comment) = row
            .text
            .split_at(row.text.find(';').unwrap_or(row.text.len()));
        spans.extend(found(code, sought, style));
        spans.extend(found(comment, sought, Theme::FAINT));
        let mut line = Line::from(spans);
        if look.view.line == Some(index) {
            let blank = usize::from(width).saturating_sub(line.width());
            line.push_span(" ".repeat(blank));
            line = line.patch_style(Theme::CHOSEN);
        }
        lines.push(line);
    }
    lines
}

/// Splits a text into spans, with matches of the search text highlighted.
fn found(text: &str, sought: &str, style: ratatui::style::Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut rest = text;
    while !sought.is_empty()
        && let Some(at) = rest.find(sought)
    {
        let (before, from) = rest.split_at(at);
        let (it, behind) = from.split_at(sought.len());
        spans.push(Span::styled(before.to_owned(), style));
        spans.push(Span::styled(it.to_owned(), style.patch(Theme::BAR)));
        rest = behind;
    }
    spans.push(Span::styled(rest.to_owned(), style));
    spans
}

#[cfg(test)]
mod tests {
    use super::{definition, without_tabs};

    #[test]
    fn macro_definition_spans_its_head_to_its_end() {
        let text = [
            "#macro a()",
            "nop",
            "#endm",
            "",
            "# macro b(x)",
            "x",
            "#endm",
        ];
        assert_eq!(definition(&text, 1), (0, 3));
        assert_eq!(definition(&text, 5), (4, 7));
        assert_eq!(definition(&text, 3), (0, 7), "in no macro: what is around");
    }

    #[test]
    fn tabs_expand_to_the_next_stop() {
        assert_eq!(without_tabs("a\tb\t\tc"), "a       b               c");
        assert_eq!(without_tabs("\u{1b}[2Jx"), "�[2Jx");
    }
}
