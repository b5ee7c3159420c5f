//! The form of what is being written, with the operand that is next.

use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};
use npsim_isa::mnemonic;

use super::scan::context_at;
use super::workspace::{Spot, Workspace};

/// The forms that fit a place; `None` outside of the brackets of an instruction or macro.
#[must_use]
pub fn signature(workspace: &Workspace, spot: &Spot) -> Option<SignatureHelp> {
    let context = context_at(&spot.text, spot.offset);
    if context.closed || context.depth == 0 {
        return None;
    }
    let mut forms: Vec<SignatureInformation> = Vec::new();
    for (_, found) in workspace.definitions(&spot.path, &spot.text) {
        let fitting = found.macros.iter();
        for known in fitting.filter(|known| known.name.eq_ignore_ascii_case(&context.head)) {
            let form = form(&known.signature(), &known.comment, context.operand);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    if forms.is_empty() {
        let info = mnemonic(&context.head)?;
        forms.extend(
            info.syntax
                .split(" or ")
                .map(|it| form(it, info.doc, context.operand)),
        );
    }
    // Of several macros of one name the first that takes so many arguments.
    let takes = |it: &SignatureInformation| {
        it.parameters
            .as_ref()
            .is_some_and(|list| list.len() > context.operand)
    };
    let active = forms.iter().position(takes).unwrap_or(0);
    Some(SignatureHelp {
        signatures: forms,
        active_signature: Some(active as u32),
        active_parameter: Some(context.operand as u32),
    })
}

fn form(text: &str, doc: &str, operand: usize) -> SignatureInformation {
    let parameters = operands(text)
        .into_iter()
        .map(|(start, end)| ParameterInformation {
            label: ParameterLabel::LabelOffsets([start, end]),
            documentation: None,
        });
    SignatureInformation {
        label: text.to_owned(),
        documentation: (!doc.is_empty()).then(|| {
            Documentation::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value: doc.to_owned(),
            })
        }),
        parameters: Some(parameters.collect()),
        active_parameter: Some(operand as u32),
    }
}

/// From where to where each operand of a form stands in its first bracket, in UTF-16
/// units.
fn operands(form: &str) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let (mut depth, mut from, mut at) = (0_usize, 0, 0);
    for character in form.chars() {
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
                        found.push((from, at));
                    }
                    return found;
                }
                depth = depth.saturating_sub(1);
            }
            ',' if depth == 1 => {
                found.push((from, at));
                from = at + 1;
            }
            ' ' if depth == 1 && from == at => from = at + 1,
            _ => {}
        }
        at += character.len_utf16() as u32;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::operands;

    #[test]
    fn operands_of_the_first_bracket_are_found() {
        let text = |form: &str| -> Vec<String> {
            let shown = |(from, to): (u32, u32)| form[from as usize..to as usize].to_owned();
            operands(form).into_iter().map(shown).collect()
        };
        assert_eq!(text("alu[dest, a, op, b]"), ["dest", "a", "op", "b"]);
        assert_eq!(text("m(a, f(b, c)), x[d]"), ["a", "f(b, c)"]);
        assert!(text("nop").is_empty());
        assert!(text("m()").is_empty());
    }
}
