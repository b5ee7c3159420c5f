//! What the tables say about one name.

use std::fmt::Write as _;

use super::details::details;
use super::{commands_of, registers, support};
use crate::{
    AluOp, CsrInfo, Generation, MnemonicInfo, ShfOp, Unit, cap_csr, csr, mnemonic, msf_csr,
};

/// The entry of an instruction or a register, as Markdown; a name that several
/// tables have gives all of them. Letter case does not matter.
#[must_use]
pub fn entry(name: &str) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(row) = mnemonic(name) {
        parts.push(instruction(row));
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

/// Every name that has an entry.
pub fn names() -> impl Iterator<Item = &'static str> {
    let mnemonics = crate::mnemonics().iter().flat_map(MnemonicInfo::spellings);
    let registers = [csr::all(), cap_csr::all(), msf_csr::all()]
        .into_iter()
        .flatten()
        .map(|row| row.name);
    mnemonics.chain(registers)
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
    // Other instructions share the two word formats, but have no operator to choose.
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
        commands_of(&mut out, unit);
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
    fn entries_tell_syntax_operators_commands_and_addresses() {
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
    }
}
