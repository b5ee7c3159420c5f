//! The form of the statement that is being written, with the current operand.

use std::ops::Range;

use npsim_isa::mnemonic;

use super::scan::context_at;
use super::workspace::{Spot, Workspace};

/// A form of an instruction or a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The form as written.
    pub text: String,
    /// Its meaning, in Markdown; may be empty.
    pub doc: String,
    /// The bytes of each operand in `text`.
    pub operands: Vec<Range<usize>>,
}

/// The forms of the statement at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The matching forms.
    pub forms: Vec<Form>,
    /// The index of the best match.
    pub active: usize,
    /// The number of the current operand, from 0.
    pub operand: usize,
}

impl Workspace {
    /// The matching forms at a place; `None` outside of the brackets of an instruction or macro.
    #[must_use]
    pub fn signature(&self, spot: &Spot) -> Option<Signature> {
        let context = context_at(&spot.text, spot.offset);
        if context.closed || context.depth == 0 {
            return None;
        }
        let mut forms: Vec<Form> = Vec::new();
        for (_, found) in self.definitions(&spot.path, &spot.text) {
            let fitting = found.macros.iter();
            for known in fitting.filter(|known| known.name.eq_ignore_ascii_case(&context.head)) {
                let form = form(&known.signature(), &known.comment);
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
        if forms.is_empty() {
            let info = mnemonic(&context.head)?;
            forms.extend(info.syntax.split(" or ").map(|it| form(it, info.doc)));
        }
        // Of several macros with the same name, the first that takes this many arguments.
        let takes = |it: &Form| it.operands.len() > context.operand;
        Some(Signature {
            active: forms.iter().position(takes).unwrap_or(0),
            forms,
            operand: context.operand,
        })
    }
}

fn form(text: &str, doc: &str) -> Form {
    Form {
        text: text.to_owned(),
        doc: doc.to_owned(),
        operands: operands(text),
    }
}

/// The bytes of each operand in the first bracket of a form.
fn operands(form: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, character) in form.char_indices() {
        match character {
            '[' | '(' => {
                depth += 1;
                if depth == 1 {
                    from = at + 1;
                }
            }
            ']' | ')' => {
                if depth == 1 {
                    if at > from {
                        found.push(from..at);
                    }
                    return found;
                }
                depth = depth.saturating_sub(1);
            }
            ',' if depth == 1 => {
                found.push(from..at);
                from = at + 1;
            }
            ' ' if depth == 1 && from == at => from = at + 1,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::operands;

    #[test]
    fn operands_of_the_first_bracket_pair_are_found() {
        let text = |form: &str| -> Vec<String> {
            let operands = operands(form).into_iter();
            operands.map(|at| form[at].to_owned()).collect()
        };
        assert_eq!(text("alu[dest, a, op, b]"), ["dest", "a", "op", "b"]);
        assert_eq!(text("m(a, f(b, c)), x[d]"), ["a", "f(b, c)"]);
        assert!(text("nop").is_empty());
        assert!(text("m()").is_empty());
    }
}
