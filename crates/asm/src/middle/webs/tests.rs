use std::collections::BTreeSet;

use npsim_isa::{Bank, Operand};

use crate::Severity;
use crate::one_text::run;

fn registers(text: &str, name: &str) -> BTreeSet<Operand> {
    let assembly = run(text);
    let image = assembly
        .image
        .unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    image
        .registers
        .iter()
        .filter(|symbol| symbol.name == name)
        .map(|symbol| symbol.operand)
        .collect()
}

/// A program with two disjoint ranges of `t` that need different banks.
const TWO_BANKS: &str = ".reg t x y\n.areg x 3\n.breg y 3\nimmed[x, 1]\nimmed[y, 2]\nimmed[t, 1]\nalu[x, x, +, t]\nimmed[t, 2]\nalu[y, y, +, t]\nlocal_csr_wr[0x10, x]\nlocal_csr_wr[0x10, y]\nctx_arb[kill]\n";

#[test]
fn disjoint_live_ranges_may_use_different_banks() {
    let found = registers(TWO_BANKS, "t");
    let banks: BTreeSet<Option<Bank>> = found.iter().map(|operand| operand.bank()).collect();
    assert_eq!(banks.len(), 2, "{found:?}");
}

#[test]
fn live_range_joined_by_branches_is_not_split() {
    let text = TWO_BANKS.replace("immed[t, 2]\n", "beq[past#]\nimmed[t, 2]\npast#:\n");
    let assembly = run(&text);
    assert!(
        assembly
            .diagnostics
            .iter()
            .any(|d| d.level == Severity::Error && d.code == "bank-conflict"),
        "{:?}",
        assembly.diagnostics
    );
}

#[test]
fn in_place_updates_stay_in_one_web() {
    let text = ".reg t\nimmed[t, 1]\nimmed_w1[t, 2]\nld_field[t, 0001, 5]\nlocal_csr_wr[0x10, t]\nctx_arb[kill]\n";
    assert_eq!(registers(text, "t").len(), 1);
}

#[test]
fn initial_value_goes_to_the_first_range_read() {
    let text = ".reg t u\n.init t 7\nlocal_csr_wr[0x10, t]\nimmed[u, 1]\nimmed[t, 2]\nalu[u, u, +, t]\nlocal_csr_wr[0x10, u]\nctx_arb[kill]\n";
    let image = run(text).image.unwrap();
    let written = npsim_isa::decode(image.words[0]).unwrap();
    let npsim_isa::Instruction::LocalCsrWrite { src, .. } = written else {
        panic!("{written}");
    };
    assert_eq!(image.initial_values[0].register, src);
}
