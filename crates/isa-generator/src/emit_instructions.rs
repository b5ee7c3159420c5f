//! Generation of Rust source from the rows of the instruction table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::instructions::{Access, Form, Mnemonic, Sequence, Takes};
use super::sources::Tables;
use super::tables::Command;
use super::words::{camel, marks, optional};

/// A form with its row number and its number within the row.
type FormPlace<'a> = (usize, usize, &'a Form);

pub fn mnemonics(tables: &Tables) -> String {
    let file = &tables.mnemonics;
    let mut out = format!(
        "/// Every word that names an operand in the table.\npub static OPERANDS: [OperandInfo; {}] = [\n",
        file.operand.len()
    );
    for row in &file.operand {
        let _ = writeln!(
            out,
            "OperandInfo {{ name: {:?}, role: OperandRole::{}, access: {}, max: {:?}, noun: {:?}, doc: {:?} }},",
            row.name,
            row.role,
            row.access.variant(),
            row.max,
            row.noun.as_deref().unwrap_or(&row.name),
            row.doc,
        );
    }
    let rows = &file.mnemonic;
    let _ = writeln!(out, "];\nstatic TABLE: [MnemonicInfo; {}] = [", rows.len());
    for row in rows {
        let _ = writeln!(
            out,
            "MnemonicInfo {{ name: {:?}, since: Generation::{}, aliases: &{:?}, class: Format::{}, syntax: {:?}, doc: {:?}, operation: {:?}, result: {:?}, flags: {:?}, example: {}, max_defer: {}, forms: &[",
            row.name,
            row.since,
            row.aliases,
            camel(&row.format),
            row.syntax,
            row.doc,
            row.operation,
            row.result,
            row.flags,
            example(row),
            row.defer,
        );
        for form in &row.form {
            out += &form_literal(tables, row, form);
        }
        let _ = writeln!(
            out,
            "], evidence: {}, uncertain: {} }},",
            marks(&row.evidence),
            optional(row.uncertain.as_ref()),
        );
    }
    out += "];\n";
    out += &place(tables);
    out += &operands(tables);
    out
}

fn example(row: &Mnemonic) -> String {
    let Some(text) = &row.example else {
        return "None".to_owned();
    };
    let gives: Vec<String> = row
        .gives
        .iter()
        .map(|(register, value)| format!("({register:?}, {value:#x})"))
        .collect();
    format!(
        "Some(Example {{ text: {text:?}, gives: &[{}] }})",
        gives.join(", ")
    )
}

fn form_literal(tables: &Tables, row: &Mnemonic, form: &Form) -> String {
    let file = &tables.mnemonics;
    let operands: Vec<String> = form
        .operands
        .iter()
        .map(|name| {
            let bare = name.trim_end_matches('?');
            let index = file.operand.iter().position(|row| row.name == bare);
            format!(
                "FormOperand {{ info: &OPERANDS[{}], optional: {} }}",
                index.unwrap_or_default(),
                bare.len() != name.len()
            )
        })
        .collect();
    let wrapped = |kind: &str, text: Option<&str>| {
        text.map_or("None".to_owned(), |text| format!("{kind}({text})"))
    };
    format!(
        "Form {{ operands: &[{}], sets_codes: {}, leaves: {}, takes: {}, sequence: {}, flow: {}, max_defer: {}, make: {} }},\n",
        operands.join(", "),
        form.codes,
        form.leaves.variant(),
        wrapped("Some", form.takes.map(Takes::variant)),
        wrapped("Some", form.sequence.map(Sequence::variant)),
        form.flow.variant(),
        form.defer.unwrap_or(row.defer),
        wrapped("Some", make(tables, row, form).as_deref()),
    )
}

/// Whether the generated constructor can set an operand from a simple value.
fn is_plain(tables: &Tables, name: &str) -> bool {
    let row = tables.mnemonics.operand(name);
    row.is_some_and(|row| row.access != Access::Text || row.max.is_some())
        || ["count", "target"].contains(&name)
}

/// Returns the field of a variant that an operand fills.
fn field_of(form: &Form, name: &str) -> &'static str {
    match name {
        "modified" | "dest" => "dest",
        "a" => "a",
        "b" => "b",
        "src" => "src",
        "entry" => "entry",
        "count" => "count",
        "state" => "state",
        "bit" => "bit",
        "byte" => "byte",
        "byte_value" => "value",
        "context" => "context",
        "target" if form.variant.as_deref() == Some("Jump") => "base",
        _ => "target",
    }
}

/// Generates a function that makes the instruction; `None` unless all its
/// operands are plain.
fn make(tables: &Tables, row: &Mnemonic, form: &Form) -> Option<String> {
    // Instructions with further options are assembled by hand.
    let optioned = [
        "LdField",
        "CamLookup",
        "Crc",
        "CtxArb",
        "Command",
        "CapCsr",
        "MulStep",
        "MulLast",
    ];
    let unary = form.code.is_some();
    let variant = match &form.variant {
        Some(name) if !optioned.contains(&name.as_str()) => name.as_str(),
        None if unary => "Unary",
        _ => return None,
    };
    if !form.names().all(|name| is_plain(tables, name)) {
        return None;
    }
    let mut fields: BTreeMap<String, String> = form
        .when
        .iter()
        .map(|(field, value)| (field.clone(), value.to_string()))
        .collect();
    for name in form.names() {
        let field = field_of(form, name);
        let source = match name {
            "modified" => "dest",
            "state" | "bit" | "byte" | "context" => "number",
            "byte_value" => "value",
            other => other,
        };
        let field = if unary && name == "entry" {
            "src"
        } else {
            field
        };
        fields.insert(field.to_owned(), format!("o.{source}"));
    }
    if unary {
        fields.insert("op".to_owned(), format!("UnaryOp::{}", camel(&row.name)));
        let none = "Operand::None".to_owned();
        fields.entry("dest".to_owned()).or_insert(none);
    }
    if row.defer > 0 {
        fields.insert("defer".to_owned(), "o.defer".to_owned());
    }
    let unused = if fields.values().any(|value| value.starts_with("o.")) {
        "o"
    } else {
        "_"
    };
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(field, value)| format!("{field}: {value}"))
        .collect();
    Some(format!(
        "|{unused}| Instruction::{variant} {{ {} }}",
        fields.join(", ")
    ))
}

/// Generates the match from an instruction to its row and form.
fn place(tables: &Tables) -> String {
    let mut out = String::from(
        "impl Instruction {\n/// Row and form of the table.\nconst fn place(&self) -> (usize, usize) {\nmatch self {\n",
    );
    for (variant, mut places) in by_variant(tables) {
        if variant == "Command" {
            continue;
        }
        places.sort_by_key(|(_, _, form)| std::cmp::Reverse(form.when.len()));
        let last = places.len() - 1;
        for (n, (row, number, form)) in places.iter().enumerate() {
            let mut fields: Vec<String> = form
                .when
                .iter()
                .map(|(field, value)| format!("{field}: {value}"))
                .collect();
            if n == last {
                fields.clear();
            }
            fields.push("..".to_owned());
            let pattern = match (variant, n == last) {
                ("CapCsr", false) => format!("Self::CapCsr(CapCsr {{ {} }})", fields.join(", ")),
                _ => format!("Self::{variant} {{ {} }}", fields.join(", ")),
            };
            let _ = writeln!(out, "{pattern} => ({row}, {number}),");
        }
    }
    out += "Self::Unary { op, .. } => match op {\n";
    for (row, mnemonic) in tables.mnemonics.mnemonic.iter().enumerate() {
        for number in (0..mnemonic.form.len()).filter(|&n| mnemonic.form[n].code.is_some()) {
            let _ = writeln!(
                out,
                "UnaryOp::{} => ({row}, {number}),",
                camel(&mnemonic.name)
            );
        }
    }
    out += "},\nSelf::Command(command) => match command.op {\n";
    for (row, mnemonic) in tables.mnemonics.mnemonic.iter().enumerate() {
        let is_command = |form: &Form| form.variant.as_deref() == Some("Command");
        let Some(number) = mnemonic.form.iter().position(is_command) else {
            continue;
        };
        let named = |command: &&Command| {
            let name = if command.operands {
                &command.unit
            } else {
                &command.name
            };
            name == &mnemonic.name
        };
        let ops: Vec<String> = tables
            .commands
            .command
            .iter()
            .filter(named)
            .map(|command| format!("CommandOp::{}", command.op))
            .collect();
        let _ = writeln!(out, "{} => ({row}, {number}),", ops.join(" | "));
    }
    out + "},\n}\n}\n}\n"
}

/// Returns the forms of each variant, in table order.
fn by_variant(tables: &Tables) -> BTreeMap<&str, Vec<FormPlace<'_>>> {
    let mut found: BTreeMap<&str, Vec<FormPlace>> = BTreeMap::new();
    for (row, mnemonic) in tables.mnemonics.mnemonic.iter().enumerate() {
        for (number, form) in mnemonic.form.iter().enumerate() {
            if let Some(variant) = &form.variant {
                found.entry(variant).or_default().push((row, number, form));
            }
        }
    }
    found
}

/// Generates access to the register operands by role.
fn operands(tables: &Tables) -> String {
    let mut arms = String::new();
    let mut all: Vec<(&str, Vec<&str>)> = vec![("Unary", vec!["dest", "src"])];
    for (variant, places) in by_variant(tables) {
        let mut names: Vec<&str> = Vec::new();
        for name in places.iter().flat_map(|(_, _, form)| form.names()) {
            let register = tables
                .mnemonics
                .operand(name)
                .is_some_and(|row| row.access != Access::Text);
            let field = if name == "modified" { "dest" } else { name };
            if register && !names.contains(&field) {
                names.push(field);
            }
        }
        all.push((variant, names));
    }
    for (variant, names) in all {
        for name in names {
            let role = camel(name);
            let (pattern, place) = if variant == "Command" {
                (
                    "Self::Command(command)".to_owned(),
                    format!("&mut command.{name}"),
                )
            } else {
                (format!("Self::{variant} {{ {name}, .. }}"), name.to_owned())
            };
            let _ = writeln!(arms, "({pattern}, OperandRole::{role}) => Some({place}),");
        }
    }
    // Some instructions have a CAM entry as their only source.
    arms += "(Self::Unary { src, .. }, OperandRole::Entry) => Some(src),\n";
    format!(
        "impl Instruction {{\n/// The register operand of a role, if the instruction has one.\n#[must_use]\n#[allow(clippy::match_same_arms, reason = \"one arm for each variant and role\")]\npub const fn operand_mut(&mut self, role: OperandRole) -> Option<&mut Operand> {{\nmatch (self, role) {{\n{arms}_ => None,\n}}\n}}\n}}\n"
    )
}
