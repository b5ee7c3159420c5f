//! The column of comments that follow code.

use super::physical::column;
use super::{Comment, Printed};

/// Columns between the longest code of a run and its comments.
const GAP: usize = 2;

/// Aligns the comments after adjacent lines of code, and returns the complete lines.
pub(super) fn align(lines: &[Printed<'_>]) -> Vec<String> {
    let mut aligned = Vec::with_capacity(lines.len());
    let mut rest = lines;
    while let [first, ..] = rest {
        let length = run(rest);
        if length == 0 {
            aligned.push(standalone_comment(first));
            rest = &rest[1..];
            continue;
        }
        let (members, after) = rest.split_at(length);
        let at = common_column(members);
        for line in members {
            let text = line.comment.as_ref().map_or("", |it| it.text);
            let pad = at - column(&line.code);
            aligned.push(format!("{}{:pad$}{text}", line.code, ""));
        }
        rest = after;
    }
    aligned
}

/// Returns the number of lines from here on whose comments share a column.
fn run(lines: &[Printed<'_>]) -> usize {
    let has_trailing_comment = |line: &Printed<'_>| line.comment.is_some() && !line.code.is_empty();
    if !lines.first().is_some_and(has_trailing_comment) {
        return 0;
    }
    let mut column = 0;
    let mut length = 0;
    for line in lines {
        match &line.comment {
            Some(comment) if !line.code.is_empty() => column = comment.column,
            // The line continues the comment above it.
            Some(comment) if comment.column == column && column > 0 => {}
            _ => break,
        }
        length += 1;
    }
    length
}

/// Returns the column that all comments already have if the code leaves room for it, else one after
/// the longest code.
fn common_column(lines: &[Printed<'_>]) -> usize {
    let longest = lines
        .iter()
        .map(|line| column(&line.code))
        .max()
        .unwrap_or(0);
    let mut columns = lines
        .iter()
        .flat_map(|line| &line.comment)
        .map(|it| it.column);
    let first = columns.next().unwrap_or(0);
    if first > longest && columns.all(|it| it == first) {
        return first;
    }
    longest + GAP
}

fn standalone_comment(line: &Printed<'_>) -> String {
    match &line.comment {
        Some(Comment {
            text,
            own: Some(column),
            ..
        }) => format!("{:column$}{text}", ""),
        _ => line.code.clone(),
    }
}
