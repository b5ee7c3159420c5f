//! Checks of the hardware's rules for neighbouring instructions, and of unused declarations.

use std::collections::BTreeSet;

use npsim_isa::{CapAccess, Instruction, Leaves, Operand, OperandRole, Takes, TransferRegister};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::SourcePlace;
use crate::middle::flow::FlowGraph;
use crate::middle::liveness::{Liveness, backward};
use crate::middle::program::signal_rule;
use crate::middle::program::{
    Item, Micro, OperandSlot, OperandValue, Side, SignalRef, VariableId, cell,
};
use crate::middle::scope::{Element, RegisterFile, Symbols};
use npsim_isa::{Completion, SignalRule};

/// Checks each instruction against the one before it.
pub fn neighbours(items: &[Item], flow: &FlowGraph, diagnostics: &mut Vec<Diagnostic>) {
    let micros: Vec<(usize, &Micro)> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| item.micro().map(|micro| (i, micro)))
        .collect();
    for (position, &(item, micro)) in micros.iter().enumerate() {
        let before = position.checked_sub(1).map(|i| micros[i].1);
        let after = micros.get(position + 1);
        if matches!(micro.template, Instruction::LocalCsrRead { .. }) {
            csr_read(micro, after.map(|(_, next)| *next), diagnostics);
        }
        if let Some(what) = hidden_input(&micro.template) {
            let entered = flow.entered[item];
            let direct =
                before.is_some_and(|before| before.template.form().leaves == Leaves::Result);
            let counts = micro.template.shifts_indirectly();
            if let Some(before) = before
                && counts
                && direct
                && !entered
                && leaves_no_count(before)
            {
                diagnostics.push(missing_count_warning(micro, before));
            }
            if entered || !direct {
                let mut diagnostic = micro
                    .place
                    .warning(
                        codes::INDIRECT_SOURCE,
                        format!("`{}` takes {what} from the instruction right before it", micro.mnemonic),
                    )
                    .label(if entered {
                        "control can also come from a branch here"
                    } else {
                        "no ALU instruction comes right before it"
                    })
                    .note("Only the instruction executed directly before counts, not one before a `nop`.")
                    .help("put the `alu` that computes it directly before this instruction");
                if let (Some(before), false) = (before, entered) {
                    diagnostic = diagnostic.also(
                        before.place.span,
                        before.place.expansion,
                        "this one is executed before",
                    );
                }
                diagnostics.push(diagnostic);
            }
        }
    }
}

/// Whether an operator has `--` as its first source, so that an indirect shift after it has no
/// count.
fn leaves_no_count(micro: &Micro) -> bool {
    passes_b(micro) && first_source(micro).is_none()
}

/// Whether an operator computes its result from the second source alone.
fn passes_b(micro: &Micro) -> bool {
    match micro.template {
        Instruction::Alu { op, .. } => op.is_unary(),
        Instruction::AluShf { op, .. } => op.is_unary(),
        _ => false,
    }
}

/// Returns the first source of an instruction, if the source text has one.
fn first_source(micro: &Micro) -> Option<&OperandSlot> {
    let mut slots = micro.slots.iter();
    slots.find(|slot| {
        slot.role == OperandRole::A && slot.value != OperandValue::Physical(Operand::None)
    })
}

fn missing_count_warning(micro: &Micro, before: &Micro) -> Diagnostic {
    micro
        .place
        .warning(
            codes::INDIRECT_SOURCE,
            format!(
                "`{}` takes its shift count from an operand that is `--`",
                micro.mnemonic
            ),
        )
        .label("shifts by an undefined count")
        .also(
            before.place.span,
            before.place.expansion,
            "the first source of this one is the count",
        )
        .note("An indirect shift is by the first source of the instruction right before it.")
        .help("name the count there, as in `alu[--, count, B, 0]`")
}

/// Warns of a first source of B or ~B that no indirect shift follows, since nothing else uses it.
pub fn counts(items: &[Item], flow: &FlowGraph, diagnostics: &mut Vec<Diagnostic>) {
    for (item, micro) in items.iter().enumerate() {
        let Some(micro) = micro.micro() else { continue };
        let Some(slot) = first_source(micro).filter(|_| passes_b(micro)) else {
            continue;
        };
        if counts_after(items, flow, item) {
            continue;
        }
        diagnostics.push(
            slot.place
                .warning(
                    codes::UNUSED_OPERAND,
                    "the operators `B` and `~B` do nothing with their first source",
                )
                .note("It is only the count of an indirect shift that is executed right after.")
                .help("write `--` here")
                .patch(slot.place.span, "--"),
        );
    }
}

/// Whether an instruction that may be executed directly after an item shifts indirectly.
fn counts_after(items: &[Item], flow: &FlowGraph, item: usize) -> bool {
    let mut open: Vec<usize> = flow.successors[item].iter().map(|edge| edge.to).collect();
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        match items.get(next) {
            Some(Item::Micro(micro)) if micro.template.shifts_indirectly() => return true,
            Some(Item::Micro(_)) => {}
            // A hint, the end or a junction.
            _ if seen.insert(next) => {
                open.extend(flow.successors[next].iter().map(|edge| edge.to));
            }
            _ => {}
        }
    }
    false
}

fn csr_read(micro: &Micro, next: Option<&Micro>, diagnostics: &mut Vec<Diagnostic>) {
    let receives = next.is_some_and(|next| matches!(next.template, Instruction::Immed { .. }));
    if receives || micro.raw.is_some() {
        return;
    }
    let mut diagnostic = micro
        .place
        .error(
            codes::CSR_READ_WITHOUT_IMMED,
            "`local_csr_rd` must be followed by `immed`",
        )
        .label("its value goes to the next instruction")
        .note("The hardware puts the value of the CSR in place of the constant of that `immed`.")
        .help("write `immed[reg, 0]` as the next instruction");
    if let Some(next) = next {
        diagnostic = diagnostic.also(
            next.place.span,
            next.place.expansion,
            "this one follows instead",
        );
    }
    diagnostics.push(diagnostic);
}

/// Returns what an instruction takes from its predecessor, if anything.
fn hidden_input(instruction: &Instruction) -> Option<&'static str> {
    Some(match instruction.takes()? {
        Takes::Count => "its shift count",
        Takes::Sign => "its sign",
        Takes::Result => "its data",
        Takes::Modification => "its modification",
    })
}

/// Marks signals that DRAM and other two-part commands raise as pairs, and reports signals whose
/// commands disagree.
pub fn pair_signals(items: &[Item], symbols: &mut Symbols, diagnostics: &mut Vec<Diagnostic>) {
    for signal in &mut symbols.signals {
        signal.pair |= signal.half.is_some();
    }
    let mut first: Vec<Option<(bool, &Micro)>> = vec![None; symbols.signals.len()];
    for micro in items.iter().filter_map(Item::micro) {
        let Some(used) = micro.completion else {
            continue;
        };
        let SignalRef::Symbol(id) = used.signal else {
            continue;
        };
        let rule = signal_rule(&micro.template);
        let odd_only = rule == SignalRule::PushOdd;
        if matches!(
            rule,
            SignalRule::Pair | SignalRule::PullPush | SignalRule::PushOdd
        ) {
            symbols.signals[id].pair = true;
        }
        let signal = &symbols.signals[id];
        if let (SignalRule::Single, Some(half)) = (rule, signal.half) {
            diagnostics.push(
                used.place
                    .error(
                        codes::SIGNAL_KINDS,
                        format!(
                            "`{}` is used as a pair, but this command raises one signal",
                            signal.name
                        ),
                    )
                    .also(half.span, half.expansion, "one of the pair is named here")
                    .help("declare another signal for this command, or leave the number out"),
            );
        }
        match first[id] {
            None => first[id] = Some((odd_only, micro)),
            Some((known, other)) if known != odd_only => diagnostics.push(
                used.place
                    .error(
                        codes::SIGNAL_KINDS,
                        format!(
                            "signal `{}` is used by commands that raise different signals",
                            symbols.signals[id].name
                        ),
                    )
                    .also(
                        other.place.span,
                        other.place.expansion,
                        "the other kind of command",
                    )
                    .note("Some commands raise only the odd signal of a pair; a wait cannot serve both kinds.")
                    .help("declare another signal for one of them"),
            ),
            Some(_) => {}
        }
    }
}

/// Warns of signals that are never awaited.
pub fn awaited(
    items: &[Item],
    symbols: &Symbols,
    liveness: &Liveness,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (i, item) in items.iter().enumerate() {
        let Some(micro) = item.micro() else { continue };
        let Some(used) = micro.completion else {
            continue;
        };
        let asked = micro.template.completion();
        let (SignalRef::Symbol(id), Some(Completion::SigDone(_))) = (used.signal, asked) else {
            continue;
        };
        if liveness.signals_awaited[i].contains(id) {
            continue;
        }
        diagnostics.push(
            used.place
                .warning(
                    codes::SIGNAL_NEVER_AWAITED,
                    format!(
                        "signal `{}` of this command is never waited for",
                        symbols.signals[id].name
                    ),
                )
                .note("Its registers stay in use for ever, and the signal stays raised.")
                .help(format!(
                    "wait with `ctx_arb[{0}]` or `br_signal[{0}, label#]`, or write `.io_completed {0}`",
                    symbols.signals[id].name
                )),
        );
    }
}

/// Warns of commands that use registers without a signal to tell when they are free again.
pub fn unsignalled_commands(items: &[Item], diagnostics: &mut Vec<Diagnostic>) {
    for micro in items.iter().filter_map(Item::micro) {
        let (completion, transfer, indirect, pushes) = match &micro.template {
            Instruction::Command(command) => (
                command.completion,
                command.transfer,
                command.indirect,
                command.op.info().pushes,
            ),
            Instruction::CapCsr(access) => (
                access.completion,
                access.transfer,
                access.indirect,
                access.access == CapAccess::Read,
            ),
            _ => continue,
        };
        let moves = micro.transfer.is_some() || transfer != TransferRegister::None;
        // The override word of `indirect_ref` can name a signal.
        if completion != Completion::Silent || indirect || !moves {
            continue;
        }
        diagnostics.push(
            micro
                .place
                .warning(
                    codes::NO_COMPLETION,
                    format!("this `{}` has no signal", micro.mnemonic),
                )
                .note(if pushes {
                    "Without a signal the program cannot know when the data is in the transfer registers."
                } else {
                    "Without a signal the program cannot know when the transfer registers may be written again."
                })
                .help("add `sig_done[signal]` and wait for it, or `ctx_swap[signal]`"),
        );
    }
}

/// Warns of registers that are read before anything is written to them, and of unused names.
pub fn names(
    items: &[Item],
    flow: &FlowGraph,
    symbols: &Symbols,
    liveness: &Liveness,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for scope in &symbols.scopes {
        for (name, entry) in scope.registers.iter().chain(&scope.signals) {
            let used = |element: &Element| match *element {
                Element::Register { read, write } => [read, write]
                    .into_iter()
                    .flatten()
                    .any(|id| symbols.variables[id].used),
                Element::Signal(id) => symbols.signals[id].used,
            };
            if entry.elements.iter().any(used) {
                continue;
            }
            let (code, what) = match entry.elements.first() {
                Some(Element::Signal(_)) => (codes::UNUSED_SIGNAL, "signal"),
                _ => (codes::UNUSED_REGISTER, "register"),
            };
            diagnostics.push(
                entry
                    .place
                    .warning(code, format!("{what} `{name}` is never used"))
                    .label("dropped")
                    .help("remove the declaration"),
            );
        }
    }
    never_set(items, symbols, diagnostics);
    let Some(entry) = liveness.live_in.first() else {
        return;
    };
    for (id, variable) in symbols.variables.iter().enumerate() {
        let unset = variable.space == RegisterFile::Gpr
            && !variable.private
            && !variable.initialised
            && entry.contains(cell(id, Side::In));
        if !unset || !is_read_unset(items, flow, id) {
            continue;
        }
        if let Some(place) = first_read(items, id) {
            diagnostics.push(
                place
                    .warning(
                        codes::READ_BEFORE_WRITE,
                        format!("`{}` may be read before it is written", variable.name),
                    )
                    .label("read here")
                    .also(
                        variable.place.span,
                        variable.place.expansion,
                        "declared here",
                    )
                    .help(format!(
                        "set it first, or write `.init {} 0` or `.set {}`",
                        variable.name, variable.name
                    )),
            );
        }
    }
}

/// Whether an instruction reads a byte of the register that no earlier instruction wrote. Partial
/// writes, such as `immed_w0`, keep the other bytes and need none of them.
fn is_read_unset(items: &[Item], flow: &FlowGraph, id: VariableId) -> bool {
    const ALL: [usize; 4] = [0, 1, 2, 3];
    let of = |slot: &OperandSlot| slot.value == OperandValue::Register(id);
    let accesses: Vec<(&[usize], Vec<usize>)> = items
        .iter()
        .map(|item| match item {
            Item::Micro(micro) => {
                let mut own = micro.slots.iter().filter(|slot| of(slot));
                let reads = own.clone().any(|slot| slot.reads && !slot.writes);
                let written = own.find(|slot| slot.writes);
                let bytes = written.map_or(0, |_| written_bytes(&micro.template));
                let sets = ALL.into_iter().filter(|byte| bytes & 1 << byte != 0);
                (if reads { &ALL[..] } else { &[] }, sets.collect())
            }
            Item::Hint(hint) => {
                let cell = cell(id, Side::In);
                let uses = hint.uses.contains(&cell);
                let sets = hint.sets.contains(&cell);
                (
                    if uses { &ALL[..] } else { &[] },
                    if sets { ALL.to_vec() } else { Vec::new() },
                )
            }
        })
        .collect();
    let needed = backward(flow, |i| accesses[i].0, |i| accesses[i].1.iter().copied());
    let entry = needed.first();
    entry.is_some_and(|needed| ALL.into_iter().any(|byte| needed.contains(byte)))
}

/// Returns the bytes of its destination that an instruction writes, one bit each, lowest first.
const fn written_bytes(instruction: &Instruction) -> u8 {
    match *instruction {
        Instruction::LdField {
            mask, clear: false, ..
        } => mask,
        Instruction::ImmedByte { byte, .. } => 1 << byte,
        Instruction::ImmedWord { word, .. } => 0b11 << (2 * word),
        _ => 0b1111,
    }
}

/// Warns of registers, shared by all contexts or visible in all scopes, that instructions read but
/// nothing ever sets.
fn never_set(items: &[Item], symbols: &Symbols, diagnostics: &mut Vec<Diagnostic>) {
    let mut set = vec![false; symbols.variables.len()];
    for item in items {
        match item {
            Item::Micro(micro) => {
                for slot in micro.slots.iter().filter(|slot| slot.writes) {
                    if let OperandValue::Register(id) = slot.value {
                        set[id] = true;
                    }
                }
            }
            Item::Hint(hint) => {
                for cell in &hint.sets {
                    set[cell / 2] = true;
                }
            }
        }
    }
    for (id, variable) in symbols.variables.iter().enumerate() {
        if !variable.shared || set[id] || variable.initialised {
            continue;
        }
        if let Some(place) = first_read(items, id) {
            diagnostics.push(
                place
                    .warning(
                        codes::READ_BEFORE_WRITE,
                        format!("`{}` is read but never written", variable.name),
                    )
                    .label("keeps its value from power-up")
                    .also(
                        variable.place.span,
                        variable.place.expansion,
                        "declared here",
                    )
                    .help(format!(
                        "set it first, or write `.init {0} 0`, or `.set {0}` if it is written elsewhere",
                        variable.name
                    )),
            );
        }
    }
}

/// Returns the first place that needs the register's value; failing that, the first partial write.
fn first_read(items: &[Item], id: VariableId) -> Option<SourcePlace> {
    let reads = |keeps: bool| {
        items.iter().find_map(|item| match item {
            Item::Micro(micro) => {
                let mut slots = micro.slots.iter();
                let slot = slots.find(|slot| {
                    slot.value == OperandValue::Register(id) && slot.reads && slot.writes == keeps
                })?;
                Some(slot.place)
            }
            Item::Hint(hint) => {
                let needs = !keeps && hint.uses.contains(&cell(id, Side::In));
                hint.place.filter(|_| needs)
            }
        })
    };
    reads(false).or_else(|| reads(true))
}

/// Warns if control can run past the last instruction.
pub fn end(items: &[Item], flow: &FlowGraph, diagnostics: &mut Vec<Diagnostic>) {
    let falls = flow.reachable()[flow.end()];
    let Some(last) = items.iter().rev().find_map(Item::micro) else {
        return;
    };
    if falls && !matches!(last.template, Instruction::CtxArb(arb) if arb.breakpoint) {
        diagnostics.push(
            last.place
                .warning(
                    codes::RUNS_OFF_THE_END,
                    "the program can run past its last instruction",
                )
                .note("What the control store holds after the program is not defined.")
                .help("end with a branch back, or with `ctx_arb[kill]`"),
        );
    }
}
