//! The details of an instruction: operation, operands and cost.

use std::fmt::Write as _;

use crate::{Access, FieldKind, FlowClass, Leaves, MnemonicInfo, Sequence, Takes};

/// Returns the parts of an instruction as a list, with its example.
pub(super) fn details(row: &MnemonicInfo) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "- operation: `{}`", row.operation);
    if let Some(result) = row.result {
        let _ = writeln!(out, "- result: {result}");
    }
    let operands = operands(row);
    if !operands.is_empty() {
        let _ = writeln!(out, "- operands: {operands}");
    }
    let _ = writeln!(out, "- condition codes: {}", flags(row));
    neighbours(&mut out, row);
    let _ = writeln!(out, "- cost: {}", cost(row));
    if let Some(example) = row.example {
        out += "- example:\n\n";
        for line in example.text.trim_end().lines() {
            let indent = if line.ends_with(':') {
                "      "
            } else {
                "          "
            };
            let _ = writeln!(out, "{indent}{line}");
        }
        let gives: Vec<String> = example
            .gives
            .iter()
            .map(|(register, value)| format!("{register} = {value:#x}"))
            .collect();
        let _ = writeln!(out, "\n  gives {}", gives.join(", "));
    }
    out
}

/// Lists every operand that some form has, how it is used and which values it
/// may have.
fn operands(row: &MnemonicInfo) -> String {
    let format = row.class.info();
    let kind = |wanted| format.fields.iter().any(|info| info.kind == wanted);
    let registers = if kind(FieldKind::Restricted) {
        "restricted"
    } else {
        "unrestricted"
    };
    let mut listed: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for operand in row.forms.iter().flat_map(|form| form.operands) {
        let info = operand.info;
        if listed.contains(&info.name) {
            continue;
        }
        listed.push(info.name);
        let access = match info.access {
            Access::Read => format!(", read, {registers} source"),
            Access::Write => format!(", written, {registers} destination"),
            Access::Both => format!(", read and written, {registers} destination"),
            Access::Text => String::new(),
        };
        let optional = if operand.optional { ", optional" } else { "" };
        let name = if info.name == "modified" {
            "dest"
        } else {
            info.name
        };
        parts.push(format!("`{name}` ({}{access}{optional})", info.doc));
    }
    parts.join("; ")
}

fn flags(row: &MnemonicInfo) -> &'static str {
    match row.flags {
        Some(flags) => flags,
        None if row.forms.iter().any(|form| form.sets_codes) => "N and Z of the result; V = C = 0",
        None => "kept",
    }
}

/// Writes what the instruction takes from the previous one and leaves for the
/// next.
fn neighbours(out: &mut String, row: &MnemonicInfo) {
    // Where forms differ, the last is the one that delivers the result.
    let Some(form) = row.forms.last() else { return };
    let leaves = match form.leaves {
        Leaves::Nothing => None,
        Leaves::OperandA => Some("its first source, but no result"),
        Leaves::Result => Some(
            "its first source (with `--` the register that the empty field names) and its result",
        ),
        Leaves::Zero => Some("zeros"),
    };
    if let Some(leaves) = leaves {
        let _ = writeln!(out, "- leaves for the next instruction: {leaves}");
    }
    for form in row.forms {
        let takes = match form.takes {
            Some(Takes::Sign) => "the sign of its result",
            Some(Takes::Result) => "its result, with `ALU`",
            Some(Takes::Count | Takes::Modification) | None => continue,
        };
        let _ = writeln!(out, "- takes from the previous instruction: {takes}");
    }
    let state = match form.sequence {
        None => return,
        Some(Sequence::Align) => "the source of the alignment before",
        Some(Sequence::Multiply) => "the product",
        Some(Sequence::Count) => "the count",
    };
    let _ = writeln!(
        out,
        "- part of a sequence: the microengine, not the context, keeps {state}"
    );
}

fn cost(row: &MnemonicInfo) -> String {
    let mut flows = row.forms.iter().rev().map(|form| form.flow);
    let Some(flow) = flows.find(|flow| *flow != FlowClass::Next) else {
        return "1 cycle".to_owned();
    };
    let slots = match flow {
        FlowClass::Next => return "1 cycle".to_owned(),
        FlowClass::Branch => "the slots of a branch",
        FlowClass::Codes => {
            "if taken the slots of a branch on condition codes, which are more right after an instruction that sets them"
        }
        FlowClass::Bit => "if taken the slots of a branch on a bit",
        FlowClass::State => "if taken the slots of a branch on a state",
        FlowClass::Jump => "the slots of a jump",
        FlowClass::Arbitration => "the slots of a context swap",
        FlowClass::Command => "with ctx_swap the slots of a context swap",
    };
    let defer = match row.max_defer {
        0 => String::new(),
        most => format!(", less those that defer fills (up to {most})"),
    };
    format!("1 cycle, and {slots}{defer}; `npsim explain` gives the figures of a chip")
}
