//! Reference entries: all table data on one name.

use std::fmt::Write as _;

use super::details::details;
use super::{commands_of, registers, support};
use crate::{
    AluOp, CommandOp, CsrInfo, Generation, MnemonicInfo, ShfOp, Unit, cap_csr, csr, mnemonic,
    msf_csr,
};

/// Returns the entry of an instruction, unit, command or register, as Markdown; a name found in
/// several tables gets all of its entries. Letter case does not matter.
#[must_use]
pub fn entry(name: &str) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(row) = mnemonic(name) {
        parts.push(instruction(row));
    } else {
        parts.extend(unit(name));
        parts.extend(command(name));
    }
    for (title, table) in [
        ("Local CSR", csr::all()),
        ("CAP CSR", cap_csr::all()),
        ("MSF register", msf_csr::all()),
    ] {
        let found: Vec<CsrInfo> = table
            .iter()
            .filter(|row| row.is_named(name))
            .copied()
            .collect();
        if let Some(first) = found.first() {
            parts.push(format!("# {title} {}\n\n{}", first.name, registers(&found)));
        }
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Returns all names that have an entry.
pub fn names() -> impl Iterator<Item = &'static str> {
    let mnemonics = crate::mnemonics().iter().flat_map(MnemonicInfo::spellings);
    let registers = [csr::all(), cap_csr::all(), msf_csr::all()]
        .into_iter()
        .flatten()
        .flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()));
    let units = Unit::ALL.into_iter().map(|unit| unit.info().name);
    let commands = CommandOp::ALL
        .into_iter()
        .map(|command| command.info().name);
    mnemonics.chain(units).chain(commands).chain(registers)
}

/// Returns the entry of a unit, for units without an instruction of the same name.
fn unit(name: &str) -> Option<String> {
    let unit = Unit::by_name(&name.to_ascii_lowercase())?;
    let mut out = format!("# Unit {}\n\n", unit.info().name);
    commands_of(&mut out, unit, None);
    Some(out)
}

/// Returns the entry of a command, in all units that have it.
fn command(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let units = Unit::ALL.into_iter();
    let units: Vec<_> = units
        .filter(|unit| CommandOp::by_name(*unit, &name).is_some())
        .collect();
    let mut out = format!("# Command {name}\n");
    for unit in &units {
        out += "\n";
        commands_of(&mut out, *unit, Some(&name));
    }
    (!units.is_empty()).then_some(out)
}

fn instruction(row: &MnemonicInfo) -> String {
    let mut out = format!("# {}\n\n    {}\n\n{}\n", row.name, row.syntax, row.doc);
    out += "\n";
    if !row.aliases.is_empty() {
        let _ = writeln!(out, "- also written: {}", row.aliases.join(", "));
    }
    let _ = writeln!(out, "- word format: {}", row.class.name());
    if row.since != Generation::default() {
        let _ = writeln!(out, "- generation: from {} on", row.since);
    }
    if row.max_defer > 0 {
        let _ = writeln!(out, "- defer: up to {}", row.max_defer);
    }
    out += &details(row);
    // Other instructions share these two word formats, but have no operator to choose.
    let operators: Vec<_> = match row.name {
        "alu" => AluOp::ALL.into_iter().map(AluOp::text).collect(),
        "alu_shf" => ShfOp::ALL.into_iter().map(ShfOp::text).collect(),
        _ => Vec::new(),
    };
    if !operators.is_empty() {
        let _ = writeln!(out, "- operators: {}", operators.join(", "));
    }
    let _ = writeln!(out, "- evidence: {}", support(row.evidence, row.uncertain));
    let unit = Unit::ALL.into_iter().find(|unit| {
        let name = unit.info().name;
        row.name == name || (name == "hash" && row.name.starts_with("hash_"))
    });
    if let Some(unit) = unit {
        out += "\n";
        commands_of(&mut out, unit, None);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{entry, names};

    #[test]
    fn every_name_has_an_entry_in_any_letter_case() {
        for name in names() {
            assert!(entry(name).is_some(), "{name}");
            assert!(entry(&name.to_uppercase()).is_some(), "{name}");
        }
        assert_eq!(entry("xyzzy"), None);
    }

    #[test]
    fn entries_describe_syntax_operators_commands_and_addresses() {
        let has = |name: &str, part: &str| {
            let text = entry(name).unwrap();
            assert!(text.contains(part), "{name}: {text}");
        };
        has("alu", "operators: ");
        has("alu", "+carry");
        has("alu_shf", "~AND");
        for (name, part) in [
            ("alu_shf", "XOR"),
            ("alu_shf", "+"),
            ("cam_lookup", "operators"),
        ] {
            let text = entry(name).unwrap();
            assert!(!text.contains(part), "{name}: {text}");
        }
        has("ctx_arb", "defer: up to 2");
        has("dram", "| `read` |");
        has("CTX_ENABLES", "Local CSR");
        has("CTX_STS", "ACTIVE_CTX_STS");
        has("nop_volatile", "# nop");
    }

    #[test]
    fn units_and_commands_have_entries() {
        let has = |name: &str, part: &str| {
            let text = entry(name).unwrap();
            assert!(text.contains(part), "{name}: {text}");
        };
        has("hash", "| `hash_48` |");
        has("HASH", "# Unit hash");
        // Every unit with the command is listed, and no other command.
        has("test_and_incr", "## sram");
        has("test_and_incr", "## scratch");
        has("reflect_read", "## cap");
        for (name, part) in [
            ("test_and_incr", "test_and_set"),
            ("sub", "## sram"),
            // The entry of the instruction with this name lists it already.
            ("hash_48", "# Command"),
        ] {
            let text = entry(name).unwrap();
            assert!(!text.contains(part), "{name}: {text}");
        }
    }
}
