//! What can be read off a text without assembling it: macro and name
//! definitions with their comments, the word under the cursor, and the
//! statement around it. Works on any text, however broken.

use std::ops::Range;

/// A `#macro`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<String>,
    /// Where the name stands.
    pub place: Range<usize>,
    /// From the directive to its `#endm`.
    pub whole: Range<usize>,
    /// The comment before it, without comment marks.
    pub comment: String,
}

impl Macro {
    /// `name(a, b)`
    #[must_use]
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}

/// A `#define` or `#define_eval`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// Its name.
    pub name: String,
    /// `(a, b)` if it takes arguments.
    pub parameters: Option<String>,
    /// What it stands for.
    pub value: String,
    /// Where the name stands.
    pub place: Range<usize>,
    /// The whole directive.
    pub whole: Range<usize>,
    /// The comment in its line, or that before it.
    pub comment: String,
}

/// What a text defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Macros in the order of the text.
    pub macros: Vec<Macro>,
    /// Names in the order of the text.
    pub defines: Vec<Define>,
}

/// The text with comments turned into spaces; every byte keeps its place.
#[must_use]
pub fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let blank = |out: &mut Vec<u8>, range: Range<usize>| {
        for byte in &mut out[range] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest[0] == b';' || rest.starts_with(b"//") {
            let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            blank(&mut out, at..at + end);
            at += end;
        } else if rest.starts_with(b"/*") {
            let close = rest[2..].windows(2).position(|pair| pair == b"*/");
            let end = close.map_or(rest.len(), |at| at + 4);
            blank(&mut out, at..at + end);
            at += end;
        } else if rest[0] == b'"' || rest[0] == b'\'' {
            let end = rest[1..]
                .iter()
                .position(|b| *b == rest[0] || *b == b'\n')
                .unwrap_or(rest.len() - 1);
            at += end + 2;
        } else {
            at += 1;
        }
    }
    // Only whole comments were replaced, which begin and end between characters.
    String::from_utf8(out).unwrap_or_else(|_| " ".repeat(text.len()))
}

/// Whether a character belongs to names.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$@.".contains(&byte)
}

/// The name around a byte, with a label's `#` or a directive's.
#[must_use]
pub fn word_at(text: &str, offset: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = offset.min(bytes.len());
    if bytes.get(start) == Some(&b'#') && bytes.get(start + 1).is_some_and(u8::is_ascii_alphabetic)
    {
        start += 1;
    }
    while start > 0 && is_word(bytes[start - 1]) {
        start -= 1;
    }
    let mut end = start;
    while bytes.get(end).copied().is_some_and(is_word) {
        end += 1;
    }
    if start == end {
        // Just behind the `#` of a label.
        if start > 1 && bytes[start - 1] == b'#' && is_word(bytes[start - 2]) {
            return word_at(text, start - 1);
        }
        return None;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    if text[line_start..start].trim_start() == "#" || text[line_start..start].trim() == "#" {
        let mark = line_start + text[line_start..start].find('#')?;
        return Some(mark..end);
    }
    if bytes.get(end) == Some(&b'#') && bytes.get(end + 1) != Some(&b'#') {
        end += 1;
    }
    Some(start..end)
}

/// The statement that a byte stands in, up to that byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The word before the first bracket, in lower case; what has been typed of
    /// it if no bracket follows.
    pub head: String,
    /// How deep in brackets the byte stands.
    pub depth: usize,
    /// Commas of the first bracket before the byte, while in it.
    pub operand: usize,
    /// The operands before, trimmed.
    pub operands: Vec<String>,
    /// The first bracket has been closed.
    pub closed: bool,
    /// The name directly before the innermost open bracket, in lower case.
    pub inner: String,
}

/// Where the statement around a byte begins: lines that end in a comma or have
/// an open bracket go on.
fn statement_start(code: &str, offset: usize) -> usize {
    const LONGEST: usize = 40;
    let mut start = code[..offset].rfind('\n').map_or(0, |at| at + 1);
    for _ in 0..LONGEST {
        let Some(before) = code[..start].strip_suffix('\n') else {
            break;
        };
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before[line_start..].trim();
        let open = line.matches(['[', '(']).count() > line.matches([']', ')']).count();
        if line.starts_with('#') || !(line.ends_with(',') || open) {
            break;
        }
        start = line_start;
    }
    start
}

/// The context of a byte in a text without comments.
#[must_use]
pub fn context_at(code: &str, offset: usize) -> Context {
    let offset = code.floor_char_boundary(offset.min(code.len()));
    let mut text = &code[statement_start(code, offset)..offset];
    // Labels before the statement.
    while let Some(colon) = text.find("#:") {
        if text[..colon].trim().bytes().all(is_word) {
            text = &text[colon + 2..];
        } else {
            break;
        }
    }
    let text = text.trim_start();
    let mut context = Context::default();
    let name_before = |at: usize| {
        let before = &text[..at];
        let from = before
            .rfind(|c: char| !c.is_ascii() || !is_word(c as u8))
            .map_or(0, |i| {
                i + before[i..].chars().next().map_or(1, char::len_utf8)
            });
        before[from..].to_ascii_lowercase()
    };
    let mut stack = Vec::new();
    let mut operand_start = 0;
    for (at, character) in text.char_indices() {
        match character {
            '[' | '(' => {
                if stack.is_empty() && !context.closed {
                    context.head = text[..at].trim().to_ascii_lowercase();
                    operand_start = at + 1;
                }
                stack.push(name_before(at));
            }
            ']' | ')' => {
                let closes = stack.pop().is_some();
                context.closed |= closes && stack.is_empty();
            }
            ',' if stack.len() == 1 && !context.closed => {
                context.operand += 1;
                context
                    .operands
                    .push(text[operand_start..at].trim().to_owned());
                operand_start = at + 1;
            }
            _ => {}
        }
    }
    if context.head.is_empty() {
        context.head = text
            .split_whitespace()
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
    }
    context.depth = stack.len();
    context.inner = stack.pop().unwrap_or_default();
    context
}

/// The mnemonic (or other first word) of the line around a byte, if the byte
/// stands in it. Mnemonics may hold `=` and `!`.
#[must_use]
pub fn first_word_at(code: &str, offset: usize) -> Option<Range<usize>> {
    let offset = code.floor_char_boundary(offset.min(code.len()));
    let start = code[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = code[start..].split('\n').next().unwrap_or("");
    let mut from = 0;
    while let Some(colon) = line[from..].find("#:") {
        if !line[from..from + colon].trim().bytes().all(is_word) {
            break;
        }
        from += colon + 2;
    }
    from += line[from..].len() - line[from..].trim_start().len();
    let length = line[from..]
        .find(|c: char| c.is_whitespace() || "[]()+,".contains(c))
        .unwrap_or(line.len() - from);
    let range = start + from..start + from + length;
    (length > 0 && (range.start..=range.end).contains(&offset)).then_some(range)
}

/// All macros and names that a text defines, in live lines or not.
#[must_use]
pub fn definitions(text: &str) -> Definitions {
    let code = without_comments(text);
    let mut found = Definitions::default();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let (line, end) = logical_line(&code, at);
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(rest) = trimmed.strip_prefix('#') {
            let gap = rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            let length = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            let after = at + indent + 1 + gap + length;
            let whole = at + indent..at + line.trim_end().len();
            match rest[..length].to_ascii_lowercase().as_str() {
                "macro" => {
                    if let Some((name, place, list)) = header(&code, after, end) {
                        open.push(found.macros.len());
                        found.macros.push(Macro {
                            name,
                            parameters: list.map(|(inside, _)| names(inside)).unwrap_or_default(),
                            place,
                            whole,
                            comment: comment_before(text, at),
                        });
                    }
                }
                "endm" => {
                    if let Some(index) = open.pop() {
                        found.macros[index].whole.end = whole.end;
                    }
                }
                "define" | "define_eval" => {
                    if let Some((name, place, list)) = header(&code, after, end) {
                        // Only a bracket that touches the name makes parameters.
                        let list = list.filter(|_| {
                            code.as_bytes().get(place.end) == Some(&b'(')
                                && rest[..length].eq_ignore_ascii_case("define")
                        });
                        let value_start = list.as_ref().map_or(place.end, |(_, close)| *close);
                        let beside = code_comment(text, whole.end);
                        found.defines.push(Define {
                            name,
                            parameters: list.map(|(inside, _)| format!("({})", inside.trim())),
                            value: code[value_start..end].trim().to_owned(),
                            place,
                            whole,
                            comment: if beside.is_empty() {
                                comment_before(text, at)
                            } else {
                                beside
                            },
                        });
                    }
                }
                _ => {}
            }
        }
        at = end + 1;
    }
    found
}

/// The line from `at`, with the lines that a `\` or a comma at the end adds; and
/// where its newline stands.
fn logical_line(code: &str, at: usize) -> (&str, usize) {
    let mut end = at;
    loop {
        end += code[end..].find('\n').unwrap_or(code.len() - end);
        if end < code.len() && code[at..end].trim_end().ends_with('\\') {
            end += 1;
        } else {
            return (&code[at..end], end);
        }
    }
}

type Header<'a> = (String, Range<usize>, Option<(&'a str, usize)>);

/// The name after a directive and the inside of the bracket after it, with the
/// place after the bracket.
fn header(code: &str, from: usize, end: usize) -> Option<Header<'_>> {
    let line = code.get(from..end)?;
    let start = from + line.len() - line.trim_start().len();
    let length = code[start..end]
        .bytes()
        .position(|byte| !(is_word(byte)))
        .unwrap_or(end - start);
    if length == 0 {
        return None;
    }
    let place = start..start + length;
    let name = code[place.clone()].to_owned();
    let rest = &code[place.end..end];
    let open = rest.len() - rest.trim_start().len();
    let list = rest[open..].strip_prefix('(').and_then(|inside| {
        let close = inside.find(')')?;
        Some((&inside[..close], place.end + open + 1 + close + 1))
    });
    Some((name, place, list))
}

fn names(list: &str) -> Vec<String> {
    list.split(',')
        .map(|name| name.trim_matches(|c: char| c == '\\' || c.is_whitespace()))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A comment line's text.
fn comment_text(line: &str) -> Option<&str> {
    let line = line.trim();
    let text = line.strip_prefix("//").or_else(|| line.strip_prefix(';'))?;
    Some(text.trim_start_matches([';', '/']))
}

/// The comment lines directly above the line that begins at `at`.
fn comment_before(text: &str, at: usize) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text[..at].lines().rev() {
        match comment_text(line) {
            Some(comment) => lines.push(comment),
            None => break,
        }
    }
    lines.reverse();
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let cut: Vec<_> = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or("").trim_end())
        .collect();
    cut.join("\n").trim_matches('\n').to_owned()
}

/// The comment in the rest of a line.
fn code_comment(text: &str, at: usize) -> String {
    let line = text[at..].lines().next().unwrap_or("");
    comment_text(line).unwrap_or("").trim().to_owned()
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
