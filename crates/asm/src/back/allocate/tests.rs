//! Allocation is checked by symbolic execution: each register holds the name
//! that was last written to it, and a read must find its own name. Data of
//! commands arrive as early and as late as the hardware permits.

#![allow(
    clippy::format_push_string,
    reason = "short programs are built as text"
)]

use std::collections::{BTreeMap, BTreeSet};

use npsim_isa::{Bank, Operand};
use proptest::prelude::*;

use crate::Options;
use crate::Severity;
use crate::assemble::{AllocatedProgram, place};
use crate::diagnostic::Diagnostic;
use crate::middle::program::{Item, OperandValue, Side, SignalRef, VariableId};
use crate::middle::program::{signal_rule, words};
use crate::middle::scope::RegisterFile;
use crate::one_text::SingleText;
use crate::source::SourceMap;

fn allocate_text(text: &str) -> Result<AllocatedProgram, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut sources = SourceMap::default();
    place(
        "test.uc",
        &SingleText(text),
        &Options::default(),
        &mut sources,
        &mut crate::lints::Pragmas::default(),
        &mut diagnostics,
    )
    .ok_or(diagnostics)
}

struct Flight {
    signal: Option<SignalRef>,
    pulls: Vec<VariableId>,
    pushes: Vec<VariableId>,
}

struct Walk<'a> {
    program: &'a AllocatedProgram,
    holds: BTreeMap<(Operand, Side), VariableId>,
    written: BTreeSet<(VariableId, Side)>,
    flights: Vec<Flight>,
    raised: BTreeMap<u8, SignalRef>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a AllocatedProgram) -> Self {
        Self {
            program,
            holds: BTreeMap::new(),
            written: BTreeSet::new(),
            flights: Vec::new(),
            raised: BTreeMap::new(),
        }
    }

    fn register(&self, id: VariableId) -> Operand {
        self.program.assignment.registers[id].expect("a used name has a register")
    }

    fn write(&mut self, id: VariableId, side: Side) {
        self.holds.insert((self.register(id), side), id);
        self.written.insert((id, side));
    }

    fn read(&self, id: VariableId, side: Side, item: usize) {
        if !self.written.contains(&(id, side)) {
            return;
        }
        let found = self.holds[&(self.register(id), side)];
        let name = |id: VariableId| &self.program.symbols.variables[id].name;
        assert_eq!(
            found,
            id,
            "item {item} reads {} but finds {}",
            name(id),
            name(found)
        );
    }

    fn numbers(&self, signal: SignalRef) -> Vec<u8> {
        match signal {
            SignalRef::Physical(n) => vec![n],
            SignalRef::Symbol(id) => {
                let n = self.program.assignment.signals[id].expect("a used signal has a number");
                if self.program.symbols.signals[id].pair {
                    assert_eq!(n % 2, 0, "a pair begins even");
                    vec![n, n + 1]
                } else {
                    vec![n]
                }
            }
        }
    }

    fn arrive(&mut self, signal: SignalRef, item: usize) {
        for number in self.numbers(signal) {
            if let Some(owner) = self.raised.remove(&number) {
                assert_eq!(owner, signal, "item {item} waits for another's signal");
            }
        }
        let (done, open): (Vec<Flight>, Vec<Flight>) = std::mem::take(&mut self.flights)
            .into_iter()
            .partition(|flight| flight.signal == Some(signal));
        self.flights = open;
        for flight in done {
            for id in flight.pulls {
                self.read(id, Side::Out, item);
            }
            for id in flight.pushes {
                self.write(id, Side::In);
            }
        }
    }

    fn step(&mut self, item: usize) {
        match &self.program.selection.items[item] {
            Item::Hint(hint) => {
                for &cell in &hint.sets {
                    let side = if cell % 2 == 0 { Side::In } else { Side::Out };
                    self.write(cell / 2, side);
                }
                for &signal in &hint.completed {
                    self.arrive(signal, item);
                }
            }
            Item::Micro(micro) => {
                let banks: Vec<Bank> = micro
                    .ports()
                    .filter_map(|slot| match slot.value {
                        OperandValue::Register(id) => self.register(id).bank(),
                        OperandValue::Physical(operand) => operand.bank(),
                        OperandValue::Constant(_) => None,
                    })
                    .collect();
                assert!(
                    banks.len() < 2 || banks[0] != banks[1],
                    "banks of item {item}"
                );
                for slot in micro.slots.iter().filter(|slot| slot.reads) {
                    if let OperandValue::Register(id) = slot.value {
                        self.read(id, Side::In, item);
                    }
                }
                for slot in micro.slots.iter().filter(|slot| slot.writes) {
                    if let OperandValue::Register(id) = slot.value {
                        let space = self.program.symbols.variables[id].space;
                        let out = matches!(space, RegisterFile::S | RegisterFile::D);
                        self.write(id, if out { Side::Out } else { Side::In });
                    }
                }
                self.issue(item);
            }
        }
    }

    fn issue(&mut self, item: usize) {
        let Some(micro) = self.program.selection.items[item].micro() else {
            return;
        };
        let Some(transfer) = micro.transfer else {
            return;
        };
        let (pull, push) = words(&micro.template);
        let reach = |id: Option<VariableId>, count: u8| -> Vec<VariableId> {
            let Some(id) = id else { return Vec::new() };
            let (group, position) = self.program.groups.position[id];
            self.program.groups.members[group][position..]
                .iter()
                .copied()
                .take(count as usize)
                .collect()
        };
        let flight = Flight {
            signal: micro.completion.map(|used| used.signal),
            pulls: reach(transfer.write, pull),
            pushes: reach(transfer.read, push),
        };
        for &id in &flight.pulls {
            self.read(id, Side::Out, item);
        }
        for id in flight.pushes.clone() {
            self.write(id, Side::In);
        }
        if let Some(signal) = flight.signal {
            for number in self.numbers(signal) {
                if let Some(owner) = self.raised.insert(number, signal) {
                    assert_eq!(owner, signal, "item {item} raises a signal in use");
                }
            }
            assert!(
                !signal_rule(&micro.template).needs_even() || self.numbers(signal).len() == 2,
                "a pair owns two numbers"
            );
        }
        self.flights.push(flight);
    }
}

/// Follows the path that `choices` selects.
fn walk(program: &AllocatedProgram, choices: &[u8]) {
    let mut walk = Walk::new(program);
    let mut item = 0;
    for &choice in choices {
        if item < program.selection.items.len() {
            walk.step(item);
        }
        let edges = &program.flow.successors[item];
        if edges.is_empty() {
            break;
        }
        let edge = &edges[choice as usize % edges.len()];
        for &signal in &edge.awaited {
            walk.arrive(signal, item);
        }
        item = edge.to;
    }
    for flight in std::mem::take(&mut walk.flights) {
        for id in flight.pulls {
            walk.read(id, Side::Out, item);
        }
    }
}

/// Checks the invariants of every allocation.
fn check_invariants(program: &AllocatedProgram) {
    let symbols = &program.symbols;
    let mut absolutes = BTreeSet::new();
    for (id, variable) in symbols.variables.iter().enumerate() {
        let Some(register) = program.assignment.registers[id] else {
            assert!(!variable.used, "{} has no register", variable.name);
            continue;
        };
        match (variable.space, register) {
            (RegisterFile::Absolute, Operand::GprAbsolute(_, n)) => {
                assert!(
                    n < 128 && absolutes.insert(register),
                    "absolutes are never shared"
                );
            }
            (RegisterFile::Gpr, Operand::Gpr(_, n))
            | (RegisterFile::S, Operand::STransfer(n))
            | (RegisterFile::D, Operand::DTransfer(n)) => assert!(n < 16, "{}", variable.name),
            (RegisterFile::NextNeighbour, Operand::Nn(_)) => {}
            other => panic!("{} got {other:?}", variable.name),
        }
    }
    for absolute in &absolutes {
        let Operand::GprAbsolute(bank, n) = *absolute else {
            continue;
        };
        let row = Operand::Gpr(bank, n % 16);
        assert!(
            !program.assignment.registers.contains(&Some(row)),
            "an absolute register's row is no relative register"
        );
    }
    for members in &program.groups.members {
        for pair in members.windows(2) {
            let number = |id: usize| match program.assignment.registers[id] {
                Some(Operand::STransfer(n) | Operand::DTransfer(n)) => n,
                other => panic!("{other:?} in a transfer group"),
            };
            assert_eq!(number(pair[0]) + 1, number(pair[1]));
        }
    }
}

fn check(program: &AllocatedProgram, choices: &[u8]) {
    check_invariants(program);
    walk(program, choices);
}

const SAMPLE: &str = "
.sig volatile tick
.sig done other pair
.reg p0 p1 p2 q0 q1 q2 @total @limit
.reg $a $b $c read $in write $out
.xfer_order $a $b $c
.reg $$d0 $$d1
.xfer_order $$d0 $$d1
    immed[@total, 0]
    immed[@limit, 100]
top#:
    immed[p0, 1]
    immed[q0, 2]
    alu[p1, p0, +, q0]
    sram[read, $a, p0, q0, 3], sig_done[done]
    alu[q1, p1, -, q0]
    alu[$out, p1, +, q1]
    scratch[write, $out, q1, 0, 1], sig_done[other]
    ctx_arb[done, other]
    alu[p2, $a, +, q1]
    alu[q2, $c, +, p2]
    dram[read, $$d0, p2, q2, 1], sig_done[pair]
    alu[@total, @total, +, 1]
    alu[--, @total, -, @limit]
    ctx_arb[pair], defer[1]
    alu[p0, p2, XOR, q2]
    bne[top#], defer[1]
    alu[q0, $$d1, +, p0]
    scratch[test_and_add, $b, q0, 0], sig_done[pair]
    ctx_arb[pair]
    alu[--, $b, -, 1]
    beq[top#]
    ctx_arb[kill]
";

#[test]
fn sample_program_reads_the_values_it_wrote() {
    let program = allocate_text(SAMPLE).unwrap_or_else(|d| panic!("{d:#?}"));
    for seed in 0..8u8 {
        let choices: Vec<u8> = (0..400u32)
            .map(|i| (i * 7 + u32::from(seed) * i * i) as u8)
            .collect();
        check(&program, &choices);
    }
}

#[test]
fn short_live_ranges_share_registers() {
    let mut text = String::from(".reg q\nimmed[q, 0]\n");
    for i in 0..60 {
        text += &format!(".reg p{i}\nimmed[p{i}, {i}]\nalu[q, q, +, p{i}]\n");
    }
    text += "local_csr_wr[0x10, q]\nctx_arb[kill]\n";
    let program = allocate_text(&text).unwrap_or_else(|d| panic!("{d:#?}"));
    check(&program, &[0; 400]);
}

#[test]
fn read_in_flight_holds_its_register_until_the_signal() {
    let text = "
.sig s t
.reg $x $y p q
    immed[p, 0]
    sram[read, $x, p, 0, 1], sig_done[s]
    sram[read, $y, p, 4, 1], ctx_swap[t]
    alu[q, --, B, $y]
    ctx_arb[s]
    local_csr_wr[0x10, q]
    ctx_arb[kill]
";
    // No instruction reads $x, yet the hardware writes it while $y is in use.
    let program = allocate_text(text).unwrap_or_else(|d| panic!("{d:#?}"));
    let registers = &program.assignment.registers;
    assert_ne!(registers[0], registers[1]);
    let signals = &program.assignment.signals;
    assert_ne!(signals[0], signals[1]);
}

#[test]
fn signal_number_is_reused_after_its_wait() {
    let text = "
.sig s t
.reg $x p
    immed[p, 0]
    sram[read, $x, p, 0, 1], ctx_swap[s]
    sram[read, $x, p, 4, 1], ctx_swap[t]
    ctx_arb[kill]
";
    let program = allocate_text(text).unwrap_or_else(|d| panic!("{d:#?}"));
    assert_eq!(program.assignment.signals, [Some(1), Some(1)]);
}

#[test]
fn absolute_registers_fill_one_row_first() {
    let names: Vec<String> = (0..10).map(|i| format!("@g{i}")).collect();
    let mut text = format!(".reg {} x\n", names.join(" "));
    for name in &names {
        text += &format!("immed[{name}, 1]\n");
    }
    text += "immed[x, 0]\nlocal_csr_wr[0x10, x]\nctx_arb[kill]\n";
    let program = allocate_text(&text).unwrap_or_else(|d| panic!("{d:#?}"));
    check_invariants(&program);
    let rows: BTreeSet<u8> = program
        .assignment
        .registers
        .iter()
        .filter_map(|register| match register {
            Some(Operand::GprAbsolute(_, n)) => Some(n % 16),
            _ => None,
        })
        .collect();
    assert_eq!(rows, BTreeSet::from([0]));
}

/// Generates one line of a program in which every read takes one `p` and one
/// `q`.
fn line() -> impl Strategy<Value = String> {
    let n = 0..14u8;
    prop_oneof![
        4 => (n.clone(), n.clone(), n.clone()).prop_map(|(d, a, b)| format!("alu[p{d}, p{a}, +, q{b}]")),
        4 => (n.clone(), n.clone(), n.clone()).prop_map(|(d, a, b)| format!("alu[q{d}, p{a}, XOR, q{b}]")),
        2 => n.clone().prop_map(|d| format!("immed[p{d}, 7]")),
        2 => n.clone().prop_map(|d| format!("immed[q{d}, 7]")),
        2 => (n.clone(), 0..6u8).prop_map(|(a, x)| format!("alu[$x{x}, --, B, p{a}]")),
        2 => (n.clone(), 0..6u8).prop_map(|(d, x)| format!("alu[q{d}, $x{x}, +, p{d}]")),
        2 => (0..6u8, 0..4u8).prop_map(|(x, s)| format!("sram[read, $x{x}, p0, 0, 1], sig_done[s{s}x]")),
        2 => (0..6u8, 0..4u8).prop_map(|(x, s)| format!("sram[write, $x{x}, q0, 0, 1], sig_done[s{s}x]")),
        1 => (0..4u8,).prop_map(|(s,)| format!("sram[read, $y0, p1, 0, 3], ctx_swap[s{s}x], defer[1]\nnop")),
        1 => (0..2u8,).prop_map(|(s,)| format!("dram[write, $$d0, p1, 0, 1], sig_done[d{s}x]")),
        1 => (0..2u8,).prop_map(|(s,)| format!("ctx_arb[d{s}x]")),
        2 => (0..4u8,).prop_map(|(s,)| format!("ctx_arb[s{s}x]")),
        1 => (0..4u8, 0..5u8).prop_map(|(s, l)| format!("br_signal[s{s}x, l{l}#]")),
        2 => (0..5u8,).prop_map(|(l,)| format!("bne[l{l}#], defer[1]\nnop")),
        1 => (0..5u8,).prop_map(|(l,)| format!("br[l{l}#]")),
        1 => (0..2u8, n).prop_map(|(g, a)| format!("alu[@g{g}, --, B, p{a}]")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_programs_read_the_values_they_wrote(
        lines in proptest::collection::vec(line(), 20..80),
        choices in proptest::collection::vec(any::<u8>(), 500),
    ) {
        let mut text = String::new();
        for bank in ["p", "q"] {
            let names: Vec<String> = (0..14).map(|i| format!("{bank}{i}")).collect();
            text += &format!(".reg {}\n", names.join(" "));
        }
        text += ".reg $x0 $x1 $x2 $x3 $x4 $x5 $y0 $y1 $y2 $$d0 $$d1 @g0 @g1\n";
        text += ".xfer_order $y0 $y1 $y2\n.xfer_order $$d0 $$d1\n";
        text += ".sig s0x s1x s2x s3x d0x d1x\n";
        for (i, line) in lines.iter().enumerate() {
            if i * 5 % lines.len() < 5 {
                text += &format!("l{}#:\n", i * 5 / lines.len());
            }
            text += &format!("{line}\n");
        }
        text += "ctx_arb[kill]\n";
        match allocate_text(&text) {
            Ok(program) => check(&program, &choices),
            Err(diagnostics) => {
                for diagnostic in diagnostics.iter().filter(|d| d.level == Severity::Error) {
                    prop_assert!(diagnostic.code.starts_with("too-many"), "{:?}\n{}", diagnostic, text);
                }
            }
        }
    }
}
