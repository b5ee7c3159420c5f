//! Reference pages in Markdown, generated from the tables.

use std::fmt::Write as _;

use crate::{
    CommandOp, CsrInfo, ENUMERATIONS, Evidence, FORMATS, FieldInfo, OperandForm, RECORDS,
    RESTRICTED, UNRESTRICTED, Unit, cap_csr, csr, mnemonics, msf_csr,
};

mod details;
mod entry;

use details::details;

pub use entry::{entry, names};

/// Returns the titles and texts of the pages, in reading order.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    [
        ("Instructions", instructions()),
        ("Word formats", formats()),
        ("Codes", codes()),
        ("Operands", operands()),
        ("Commands", commands()),
        ("Local CSRs", registers(csr::all())),
        ("CAP CSRs", registers(cap_csr::all())),
        ("MSF registers", registers(msf_csr::all())),
    ]
    .into_iter()
    .map(|(title, text)| (title.to_owned(), format!("# {title}\n\n{text}")))
    .collect()
}

/// Escapes the column separator in the text of a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn support(evidence: &[Evidence], uncertain: Option<&str>) -> String {
    let mut text = evidence
        .iter()
        .map(|mark| mark.label())
        .collect::<Vec<_>>()
        .join(", ");
    if let Some(remark) = uncertain {
        let label = Evidence::Uncertain.label();
        if text != label {
            let _ = write!(text, "; {label}");
        }
        let _ = write!(text, ": {}", cell(remark));
    }
    text
}

/// Explains the marks in the Evidence columns.
fn marks() -> String {
    let mut out = String::from("The marks of evidence, the strongest first:\n\n");
    for mark in Evidence::ALL {
        let _ = writeln!(out, "- *{}*: {}", mark.label(), mark.meaning());
    }
    out + "\n"
}

fn instructions() -> String {
    let mut out = marks();
    out += "The parts of each instruction follow the list. In formulas `x[h:l]` is a run of bits,\n\
            PC the word that is executed next; *previous* is the instruction executed directly\n\
            before, by the same context or another.\n\n";
    out += &String::from(
        "| Mnemonic | Syntax | Meaning | Format | Defer | Evidence |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for row in mnemonics() {
        let mut names = format!("`{}`", row.name);
        for alias in row.aliases {
            let _ = write!(names, ", `{alias}`");
        }
        let _ = writeln!(
            out,
            "| {names} | `{}` | {} | {} | {} | {} |",
            cell(row.syntax),
            cell(row.doc),
            row.class.name(),
            row.max_defer,
            support(row.evidence, row.uncertain),
        );
    }
    for row in mnemonics() {
        let _ = write!(out, "\n## `{}`\n\n{}", row.name, details(row));
    }
    out
}

fn fields(out: &mut String, fields: &[FieldInfo]) {
    *out += "\n| Bits | Field | Meaning |\n| --- | --- | --- |\n";
    let mut fields = fields.to_vec();
    fields.sort_by_key(|info| std::cmp::Reverse(info.field.lo));
    for info in fields {
        let (lo, high) = (info.field.lo, info.field.lo + info.field.width - 1);
        let bits = if lo == high {
            lo.to_string()
        } else {
            format!("{high}..{lo}")
        };
        let _ = writeln!(out, "| {bits} | {} | {} |", info.field.name, cell(info.doc));
    }
    *out += "\n";
}

fn formats() -> String {
    let mut out = String::new();
    for format in &FORMATS {
        let _ = writeln!(
            out,
            "## {} ({})\n\nLeading bits from bit 39: `{}`. Reserved bits: `{:#012x}`. Evidence: {}.",
            format.title,
            format.name,
            format.pattern,
            format.reserved,
            support(format.evidence, format.uncertain),
        );
        fields(&mut out, format.fields);
    }
    for record in &RECORDS {
        let _ = writeln!(
            out,
            "## {} ({})\n\n{} {} bits. Evidence: {}.",
            record.title,
            record.name,
            record.doc,
            record.bits,
            support(record.evidence, record.uncertain),
        );
        fields(&mut out, record.fields);
    }
    out
}

fn codes() -> String {
    let mut out = String::new();
    for (index, list) in ENUMERATIONS.iter().enumerate() {
        let _ = writeln!(
            out,
            "## {}\n\n{} Field `{}`.\n\n| Code | Text | Meaning | Evidence |\n| --- | --- | --- | --- |",
            list.name, list.doc, list.field
        );
        for value in list.values {
            let mut text = cell(value.text);
            for alias in value.aliases {
                let _ = write!(text, ", {alias}");
            }
            let _ = writeln!(
                out,
                "| {} | {text} | {} | {} |",
                value.code,
                cell(value.doc),
                support(value.evidence, value.uncertain),
            );
        }
        out += "\n";
        if ENUMERATIONS[index + 1..]
            .iter()
            .all(|later| later.field != list.field)
        {
            out += &free_codes(list.field);
        }
    }
    out
}

/// Lists the codes of a field that no table row uses, and that a new instruction could take.
fn free_codes(field: &str) -> String {
    let formats = FORMATS.iter().map(|it| (it.name, it.fields));
    let mut layouts = formats.chain(RECORDS.iter().map(|it| (it.name, it.fields)));
    let width = layouts.find_map(|(name, fields)| {
        let own = field.strip_prefix(name)?.strip_prefix('.')?;
        let info = fields.iter().find(|info| info.field.name == own)?;
        Some(info.field.width)
    });
    let used = |code: &u16| {
        let lists = ENUMERATIONS.iter().filter(|list| list.field == field);
        lists
            .flat_map(|list| list.values)
            .any(|value| u16::from(value.code) == *code)
    };
    let free: Vec<String> = (0..width.map_or(0, |width| 1_u16 << width))
        .filter(|code| !used(code))
        .map(|code| code.to_string())
        .collect();
    if free.is_empty() {
        return String::new();
    }
    format!(
        "Codes of `{field}` that no row has: {}.\n\n",
        free.join(", ")
    )
}

fn operands() -> String {
    let mut out = String::new();
    let form = |out: &mut String, form: &OperandForm| {
        let _ = writeln!(
            out,
            "## The {} form\n\n{} {} bits; dots hold the register number, offset or constant.\n\n| Code | Operand | Role | Meaning | Evidence |\n| --- | --- | --- | --- | --- |",
            form.name, form.doc, form.bits
        );
        for row in form.rows {
            let role = match (row.source, row.dest) {
                (true, true) => "source, destination",
                (true, false) => "source",
                _ => "destination",
            };
            let _ = writeln!(
                out,
                "| `{}` | `{}` | {role} | {} | {} |",
                row.pattern,
                cell(row.text),
                cell(row.doc),
                support(row.evidence, row.uncertain),
            );
        }
        *out += "\n";
    };
    form(&mut out, &UNRESTRICTED);
    form(&mut out, &RESTRICTED);
    out
}

fn commands() -> String {
    let mut out = String::new();
    for unit in Unit::ALL {
        commands_of(&mut out, unit, None);
        out += "\n";
    }
    out
}

/// Writes the commands of a unit, or only the one with this name.
fn commands_of(out: &mut String, unit: Unit, name: Option<&str>) {
    let info = unit.info();
    let _ = writeln!(
        out,
        "## {}\n\nThe {}.\n\n| Command | Code | Token | Pull | Push | Signals | Meaning | Effect | Evidence |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        info.name, info.doc
    );
    for command in CommandOp::ALL.map(CommandOp::info) {
        if command.unit != unit || name.is_some_and(|name| name != command.name) {
            continue;
        }
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} | `{}` | {} |",
            command.name,
            command.code,
            command.token,
            command.pull_words.label(),
            command.push_words.label(),
            command.signals.label(),
            cell(command.doc),
            cell(command.operation),
            support(command.evidence, command.uncertain),
        );
    }
}

fn registers(table: &[CsrInfo]) -> String {
    let mut out =
        String::from("| Address | Name | Meaning | Evidence |\n| --- | --- | --- | --- |\n");
    for csr in table {
        let mut names = format!("`{}`", csr.name);
        for alias in csr.aliases {
            let _ = write!(names, ", `{alias}`");
        }
        let _ = writeln!(
            out,
            "| {:#06x} | {names} | {} | {} |",
            csr.address,
            cell(csr.doc),
            support(csr.source, csr.uncertain),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pages;
    use crate::{AluOp, CommandOp, cap_csr, csr, mnemonics, msf_csr};

    fn all() -> String {
        pages().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn reference_mentions_every_mnemonic_code_command_and_register() {
        let text = all();
        let quoted = |name: &str| text.contains(&format!("`{name}`"));
        for row in mnemonics() {
            assert!(quoted(row.name), "{}", row.name);
            assert!(row.aliases.iter().all(|alias| quoted(alias)));
        }
        for op in CommandOp::ALL {
            assert!(quoted(op.info().name), "{op:?}");
        }
        for op in AluOp::ALL {
            assert!(text.contains(&format!("| {} | {} |", op.code(), op.text())));
        }
        for table in [csr::all(), cap_csr::all(), msf_csr::all()] {
            assert!(table.iter().all(|csr| quoted(csr.name)));
        }
    }

    #[test]
    fn uncertain_rows_are_marked() {
        let text = all();
        for row in mnemonics() {
            if let Some(remark) = row.uncertain {
                assert!(text.contains(&format!("uncertain: {remark}")), "{remark}");
            }
        }
    }

    #[test]
    fn table_rows_match_their_heading_width() {
        for (title, text) in pages() {
            let mut columns = 0;
            for line in text.lines() {
                let cells = line.replace("\\|", "").matches('|').count();
                if columns != 0 && cells != 0 {
                    assert_eq!(cells, columns, "{title}: {line}");
                }
                columns = cells;
            }
        }
    }
}
