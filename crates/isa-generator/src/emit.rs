//! Generation of Rust source from checked tables.

use std::fmt::Write as _;

use super::emit_instructions;
use super::sources::Tables;
use super::tables::{CountCode, Csr, Field, OperandKind, TransferKind, Value, pattern_bits};
use super::words::{camel, marks, optional};

/// Generates one source file per table, under the names that the crate includes.
pub fn emit(tables: &Tables) -> Vec<(&'static str, String)> {
    vec![
        ("formats.rs", formats(tables)),
        ("raw.rs", raw(tables)),
        ("enums.rs", enums(tables)),
        ("generations.rs", generations(tables)),
        ("operands.rs", operands(tables)),
        ("commands.rs", commands(tables)),
        ("csr.rs", index_gap(tables) + &csrs(&tables.csrs.local)),
        ("cap_csr.rs", csrs(&tables.csrs.cap)),
        ("msf_csr.rs", csrs(&tables.csrs.msf)),
        ("mnemonics.rs", emit_instructions::mnemonics(tables)),
    ]
}

fn field_list(fields: &[Field]) -> String {
    let mut out = String::from("&[");
    for field in fields {
        let _ = write!(
            out,
            "FieldInfo {{ field: Field::new({:?}, {}, {}), kind: FieldKind::{}, doc: {:?} }}, ",
            field.name,
            field.lo,
            field.width,
            field.kind.variant(),
            field.doc
        );
    }
    out + "]"
}

fn formats(tables: &Tables) -> String {
    let file = &tables.formats;
    let mut out = format!(
        "/// Bits of an instruction word.\npub const WORD_BITS: u32 = {};\n",
        file.word_bits
    );
    out += "/// The word formats.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum Format {\n";
    for format in &file.format {
        let _ = writeln!(out, "/// {}\n{},", format.title, camel(&format.name));
    }
    out += "}\n";
    let _ = writeln!(
        out,
        "/// Every format, in the order of [`Format`].\npub static FORMATS: [FormatInfo; {}] = [",
        file.format.len()
    );
    for format in &file.format {
        let (mask, value) = pattern_bits(&format.pattern, file.word_bits);
        let fields = file.fields(format);
        let used = fields.iter().fold(mask, |all, field| all | field.mask());
        let reserved = ((1u64 << file.word_bits) - 1) & !used;
        let _ = writeln!(
            out,
            "FormatInfo {{ format: Format::{}, name: {:?}, title: {:?}, pattern: {:?}, match_mask: {mask:#012x}, match_value: {value:#012x}, reserved: {reserved:#012x}, fields: {}, evidence: {}, uncertain: {} }},",
            camel(&format.name),
            format.name,
            format.title,
            format.pattern,
            field_list(&fields),
            marks(&format.evidence),
            optional(format.uncertain.as_ref()),
        );
    }
    out += "];\n";
    let _ = writeln!(
        out,
        "/// Bit layouts inside fields, and views that overlay a format.\npub static RECORDS: [RecordInfo; {}] = [",
        file.record.len()
    );
    for record in &file.record {
        let _ = writeln!(
            out,
            "RecordInfo {{ name: {:?}, title: {:?}, bits: {}, doc: {:?}, fields: {}, evidence: {}, uncertain: {} }},",
            record.name,
            record.title,
            record.bits,
            record.doc,
            field_list(&record.field),
            marks(&record.evidence),
            optional(record.uncertain.as_ref()),
        );
    }
    out += "];\n";
    // Every match lies in the top eight bits, so one table lookup finds the format.
    out += "/// Format by bits 39..32.\npub(crate) static CLASSES: [Option<Format>; 256] = [\n";
    let shift = file.word_bits - 8;
    for top in 0..256u64 {
        let word = top << shift;
        let found = file.format.iter().find(|format| {
            let (mask, value) = pattern_bits(&format.pattern, file.word_bits);
            word & mask == value
        });
        match found {
            Some(format) => {
                let _ = writeln!(out, "Some(Format::{}),", camel(&format.name));
            }
            None => out += "None,\n",
        }
    }
    out + "];\n"
}

fn raw(tables: &Tables) -> String {
    let file = &tables.formats;
    let mut out = String::new();
    let mut module = |name: &str, title: &str, fields: &[Field]| {
        let _ = writeln!(out, "/// {title}\npub mod {name} {{\nuse super::Field;");
        for field in fields {
            let _ = writeln!(
                out,
                "/// {}\npub const {}: Field = Field::new({:?}, {}, {});",
                field.doc,
                field.name.to_uppercase(),
                field.name,
                field.lo,
                field.width
            );
        }
        out += "}\n";
    };
    for group in &file.group {
        let title = format!("Fields of the {} group.", group.name);
        module(&group.name, &title, &group.field);
    }
    for format in &file.format {
        module(&format.name, &format.title, &file.fields(format));
    }
    for record in &file.record {
        module(&record.name, &record.title, &record.field);
    }
    out
}

fn enums(tables: &Tables) -> String {
    let mut out = String::new();
    for list in &tables.enums.enums {
        let name = &list.name;
        let _ = writeln!(
            out,
            "/// {}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum {name} {{",
            list.doc
        );
        for value in &list.value {
            let text = match value.text.as_str() {
                "" => String::new(),
                text => format!("`{text}`: "),
            };
            let _ = writeln!(out, "/// {text}{}\n{},", value.doc, value.name);
        }
        out += "}\n";
        let _ = writeln!(
            out,
            "impl {name} {{\n/// Every variant, in code order of the table.\npub const ALL: [Self; {}] = [{}];",
            list.value.len(),
            list.value
                .iter()
                .map(|value| format!("Self::{}", value.name))
                .collect::<Vec<_>>()
                .join(", ")
        );
        out += "/// The table row of this variant.\n#[must_use]\npub const fn info(self) -> &'static CodeInfo {\nmatch self {\n";
        for value in &list.value {
            let _ = writeln!(
                out,
                "Self::{} => &CodeInfo {{ code: {}, name: {:?}, text: {:?}, aliases: &{:?}, doc: {:?}, evidence: {}, uncertain: {} }},",
                value.name,
                value.code,
                value.name,
                value.text,
                value.aliases,
                value.doc,
                marks(&value.evidence),
                optional(value.uncertain.as_ref()),
            );
        }
        out += "}\n}\n";
        for (name, doc, chosen) in [
            (
                "is_unary",
                "Whether the operator ignores A.",
                (|value| value.unary) as fn(&Value) -> bool,
            ),
            (
                "adds_carry",
                "Whether the operator adds the carry of an earlier sum.",
                |value| value.carry,
            ),
        ] {
            let rows: Vec<String> = list
                .value
                .iter()
                .filter(|value| chosen(value))
                .map(|value| format!("Self::{}", value.name))
                .collect();
            if !rows.is_empty() {
                let _ = writeln!(
                    out,
                    "/// {doc}\n#[must_use]\npub const fn {name}(self) -> bool {{\nmatches!(self, {})\n}}",
                    rows.join(" | ")
                );
            }
        }
        out += "/// The value in the word.\n#[must_use]\npub const fn code(self) -> u8 {\nself.info().code\n}\n";
        out += "/// The spelling in microcode.\n#[must_use]\npub const fn text(self) -> &'static str {\nself.info().text\n}\n";
        out += "/// The variant with this value, if there is one.\n#[must_use]\npub const fn from_code(code: u8) -> Option<Self> {\nmatch code {\n";
        for value in &list.value {
            let _ = writeln!(out, "{} => Some(Self::{}),", value.code, value.name);
        }
        out += "_ => None,\n}\n}\n";
        out += "/// The variant with this spelling or alias, in any letter case.\n#[must_use]\npub fn from_text(text: &str) -> Option<Self> {\nSelf::ALL.into_iter().find(|value| value.info().is_spelt(text))\n}\n}\n";
        let _ = writeln!(
            out,
            "impl std::fmt::Display for {name} {{\nfn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{\nf.write_str(self.text())\n}}\n}}"
        );
    }
    out + &enumerations(tables)
}

fn enumerations(tables: &Tables) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "/// Every enumeration with the field whose codes it lists.\npub static ENUMERATIONS: [EnumerationInfo; {}] = [",
        tables.enums.enums.len()
    );
    for list in &tables.enums.enums {
        let _ = writeln!(
            out,
            "EnumerationInfo {{ name: {:?}, field: {:?}, doc: {:?}, values: &[{}] }},",
            list.name,
            list.field,
            list.doc,
            list.value
                .iter()
                .map(|value| format!("{}::{}.info()", list.name, value.name))
                .collect::<Vec<_>>()
                .join(", ")
        );
    }
    out + "];\n"
}

fn generations(tables: &Tables) -> String {
    let rows = &tables.generations.generation;
    let mut out = String::from(
        "/// A generation of the microengine. An instruction of a generation is also one of all\n/// later generations, so they are ordered: the oldest is the least.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum Generation {\n",
    );
    for row in rows {
        let _ = writeln!(out, "/// {}: {}.\n{},", row.name, row.doc, row.name);
    }
    let names: Vec<String> = rows
        .iter()
        .map(|row| format!("Self::{}", row.name))
        .collect();
    let _ = writeln!(
        out,
        "}}\nimpl Generation {{\n/// Every generation, the oldest first.\npub const ALL: [Self; {}] = [{}];\n/// Its table row.\n#[must_use]\npub const fn info(self) -> &'static GenerationInfo {{\nmatch self {{",
        rows.len(),
        names.join(", ")
    );
    for row in rows {
        let _ = writeln!(
            out,
            "Self::{} => &GenerationInfo {{ name: {:?}, doc: {:?}, evidence: {}, uncertain: {} }},",
            row.name,
            row.name,
            row.doc,
            marks(&row.evidence),
            optional(row.uncertain.as_ref()),
        );
    }
    out + "}\n}\n}\n"
}

fn operands(tables: &Tables) -> String {
    let mut out = String::from(
        "/// What an operand code stands for; the index is in the `.` bits of its pattern.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[expect(missing_docs, reason = \"the table rows describe the kinds\")]\npub enum OperandKind {\n",
    );
    let mut kinds: Vec<OperandKind> = Vec::new();
    for row in tables.operands.form.iter().flat_map(|form| &form.row) {
        if !kinds.contains(&row.kind) {
            kinds.push(row.kind);
        }
    }
    for kind in kinds {
        let _ = writeln!(out, "{},", kind.variant());
    }
    out += "}\n";
    for form in &tables.operands.form {
        let name = form.name.to_uppercase();
        let _ = writeln!(
            out,
            "/// {}\npub static {name}: OperandForm = OperandForm {{ name: {:?}, bits: {}, doc: {:?}, rows: &[",
            form.doc, form.name, form.bits, form.doc
        );
        for row in &form.row {
            let (mask, value) = pattern_bits(&row.pattern, form.bits);
            let index_mask = ((1u64 << form.bits) - 1) & !mask;
            let _ = writeln!(
                out,
                "OperandCode {{ pattern: {:?}, mask: {mask:#x}, value: {value:#x}, index_mask: {index_mask:#x}, kind: OperandKind::{}, text: {:?}, source: {}, dest: {}, doc: {:?}, evidence: {}, uncertain: {} }},",
                row.pattern,
                row.kind.variant(),
                row.text,
                row.source,
                row.dest,
                row.doc,
                marks(&row.evidence),
                optional(row.uncertain.as_ref()),
            );
        }
        out += "] };\n";
    }
    out +=
        "/// Values of operand fields that an instruction form does not use.\npub mod unused {\n";
    for entry in &tables.operands.unused {
        let _ = writeln!(
            out,
            "/// {}\npub const {}: u16 = {:#x};",
            entry.doc,
            entry.name.to_uppercase(),
            entry.value
        );
    }
    out + "}\n"
}

fn commands(tables: &Tables) -> String {
    let file = &tables.commands;
    let mut out = format!(
        "/// Token bit of `ignore_data_error`.\npub(crate) const IGNORE_ERROR_TOKEN: u8 = {};\n",
        file.ignore_error_token
    );
    out += "/// The units that take commands.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum Unit {\n";
    for unit in &file.unit {
        let _ = writeln!(out, "/// {}\n{},", unit.doc, unit.variant);
    }
    out += "}\n";
    let _ = writeln!(
        out,
        "impl Unit {{\n/// Every unit.\npub const ALL: [Self; {}] = [{}];",
        file.unit.len(),
        file.unit
            .iter()
            .map(|unit| format!("Self::{}", unit.variant))
            .collect::<Vec<_>>()
            .join(", ")
    );
    out += "/// The table row of this unit.\n#[must_use]\npub const fn info(self) -> &'static UnitInfo {\nmatch self {\n";
    for unit in &file.unit {
        let transfer = match unit.default_transfer {
            TransferKind::S => "S",
            TransferKind::D => "D",
        };
        let _ = writeln!(
            out,
            "Self::{} => &UnitInfo {{ name: {:?}, format: Format::{}, default_transfer: TransferKind::{transfer}, count_bytes: {}, count_minus_one: {}, max_count: {}, doc: {:?} }},",
            unit.variant,
            unit.name,
            camel(&unit.format),
            unit.count_bytes,
            unit.count_code == CountCode::MinusOne,
            unit.max_count,
            unit.doc
        );
    }
    out += "}\n}\n}\n";
    out += "/// Unit and sub-command of a memory or I/O command.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]\npub enum CommandOp {\n";
    for command in &file.command {
        let _ = writeln!(
            out,
            "/// `{}[{}]`: {}\n{},",
            command.unit, command.name, command.doc, command.op
        );
    }
    out += "}\n";
    let _ = writeln!(
        out,
        "impl CommandOp {{\n/// Every command.\npub const ALL: [Self; {}] = [{}];",
        file.command.len(),
        file.command
            .iter()
            .map(|command| format!("Self::{}", command.op))
            .collect::<Vec<_>>()
            .join(", ")
    );
    out += "/// The table row of this command.\n#[inline]\n#[must_use]\npub const fn info(self) -> &'static CommandInfo {\nmatch self {\n";
    for command in &file.command {
        let Some(unit) = file.unit.iter().find(|unit| unit.name == command.unit) else {
            continue;
        };
        let transfer = match unit.default_transfer {
            TransferKind::S => "S",
            TransferKind::D => "D",
        };
        let moves = command.pull.variant() != "Zero" || command.push.variant() != "Zero";
        let _ = writeln!(
            out,
            "Self::{op} => &CommandInfo {{ op: Self::{op}, unit: Unit::{unit}, name: {name:?}, code: {code}, token: {token}, takes_count: {count}, takes_transfer: {moves}, takes_operands: {operands}, pulls: {pulls}, pushes: {pushes}, pull_words: Words::{pull}, push_words: Words::{push}, signals: SignalRule::{signal}, default_transfer: TransferKind::{transfer}, max_count: {max_count}, ignore_error: {ignore}, doc: {doc:?}, operation: {operation:?}, evidence: {evidence}, uncertain: {uncertain} }},",
            op = command.op,
            unit = unit.variant,
            name = command.name,
            code = command.code,
            token = command.token,
            count = command.count,
            operands = command.operands,
            pulls = command.pull.variant() != "Zero",
            pushes = command.push.variant() != "Zero",
            pull = command.pull.variant(),
            push = command.push.variant(),
            signal = command.signal.variant(),
            max_count = if command.count { unit.max_count } else { 0 },
            ignore = command.ignore_error,
            doc = command.doc,
            operation = command.operation,
            evidence = marks(&command.evidence),
            uncertain = optional(command.uncertain.as_ref()),
        );
    }
    out + "}\n}\n}\n"
}

fn index_gap(tables: &Tables) -> String {
    let gap = &tables.csrs.index_gap;
    format!(
        "/// Instructions that must lie between the write of an index register and its use.\n/// {}.\npub const INDEX_GAP: u8 = {};\n",
        gap.doc, gap.value
    )
}

fn csrs(rows: &[Csr]) -> String {
    let mut out = String::new();
    let mut table: Vec<(u64, String)> = Vec::new();
    for row in rows {
        for (name, address) in row.instances() {
            let _ = writeln!(
                out,
                "/// {}\npub const {name}: u16 = {address:#06x};",
                row.doc
            );
            table.push((
                address,
                format!(
                    "CsrInfo {{ name: {name:?}, address: {address:#06x}, indexes: &[{}], aliases: &{:?}, doc: {:?}, source: {}, uncertain: {} }},\n",
                    row.index
                        .iter()
                        .map(|index| index.variant())
                        .collect::<Vec<_>>()
                        .join(", "),
                    row.aliases,
                    row.doc,
                    marks(&row.evidence),
                    optional(row.uncertain.as_ref()),
                ),
            ));
        }
    }
    table.sort();
    let _ = writeln!(out, "static TABLE: [CsrInfo; {}] = [", table.len());
    for (_, line) in table {
        out += &line;
    }
    out + "];\n"
}
