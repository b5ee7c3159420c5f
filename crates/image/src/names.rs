//! Source names of the registers and signals that a word uses.

use npsim_isa::{
    CapAccess, Completion, Instruction, Operand, OperandRole, TransferRegister, Words,
    decode_lenient_in,
};

use crate::image::{Image, RegisterSymbol, SignalSymbol, TransferDirection};
use crate::live::{LiveRange, ProgramPoint};

/// A register that a word reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterUse {
    /// The register.
    pub operand: Operand,
    /// The side of a transfer register: `Read` for IN, `Write` for OUT; `Both`
    /// for all others.
    pub side: TransferDirection,
    /// The point at which to look up its name: after the word if the word writes it.
    pub point: ProgramPoint,
    /// Whether the word does not name the register, but a command moves it along with the previous
    /// ones.
    pub implied: bool,
}

/// A signal that a word raises, awaits or tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignalUse {
    /// The number.
    pub number: u8,
    /// The point at which to look up its name.
    pub point: ProgramPoint,
}

impl RegisterSymbol {
    /// Returns where the name holds its register on the given side.
    #[must_use]
    pub fn live_on(&self, side: TransferDirection) -> &[LiveRange] {
        match side {
            TransferDirection::Write => &self.live_out,
            TransferDirection::Read | TransferDirection::Both => &self.live,
        }
    }
}

impl Image {
    /// Whether the image has live ranges of names, as produced by the assembler. Bare words and
    /// files of format 1 do not.
    #[must_use]
    pub fn has_live_ranges(&self) -> bool {
        !self.scopes.is_empty()
    }

    /// Returns the instruction at an address; `None` if there is no valid one.
    #[must_use]
    pub fn instruction(&self, address: u16) -> Option<Instruction> {
        let word = *self.words.get(usize::from(address))?;
        decode_lenient_in(word, self.target()).ok()
    }

    /// Returns the names that a register has at a point: one, or none if the source used its
    /// number. Without [live ranges](Self::has_live_ranges), returns all names that it has
    /// anywhere.
    pub fn register_at(&self, used: RegisterUse) -> impl Iterator<Item = &RegisterSymbol> {
        let ranges = self.has_live_ranges();
        self.registers.iter().filter(move |symbol| {
            let side = used.side == symbol.direction
                || used.side == TransferDirection::Both
                || symbol.direction == TransferDirection::Both;
            let mut live = symbol.live_on(used.side).iter();
            symbol.operand == used.operand
                && side
                && (!ranges || live.any(|range| range.contains(used.point)))
        })
    }

    /// Returns the names that a signal has at a point, like [`Self::register_at`]. The odd signal
    /// of a pair has the name of the even one.
    #[must_use]
    pub fn signal_at(&self, used: SignalUse) -> Vec<&SignalSymbol> {
        let ranges = self.has_live_ranges();
        let named = |number: u8| {
            let here = |range: &LiveRange| range.contains(used.point);
            let known = self.signals.iter();
            known
                .filter(|signal| signal.number == number)
                .filter(|signal| !ranges || signal.live.iter().any(here))
                .collect::<Vec<_>>()
        };
        match named(used.number) {
            own if own.is_empty() && used.number % 2 == 1 => {
                let mut even = named(used.number - 1);
                even.retain(|symbol| self.is_pair(symbol));
                even
            }
            own => own,
        }
    }

    /// Returns the name of a signal for an address: the one by which the word there raises, awaits
    /// or tests it, else the one that is live before or after the word, else the only one that the
    /// number has anywhere.
    #[must_use]
    pub fn signal_name(&self, number: u8, address: u16) -> Option<&str> {
        if self.has_live_ranges() {
            let used = self.signals_used(address).into_iter();
            let own = used.filter(|it| it.number == number).map(|it| it.point);
            let adjacent = [ProgramPoint::before(address), ProgramPoint::after(address)];
            let mut found = own.chain(adjacent).filter_map(|point| {
                let live = self.signal_at(SignalUse { number, point });
                common_name(live.into_iter())
            });
            if let Some(name) = found.next() {
                return Some(name);
            }
        }
        common_name(
            self.signals
                .iter()
                .filter(|it| it.number == number || it.number + 1 == number && self.is_pair(it)),
        )
    }

    /// Whether a name stands for a pair of signals, that is, a word raises or awaits both where the
    /// name is live. Without live ranges, any even signal may be a pair.
    #[must_use]
    pub fn is_pair(&self, signal: &SignalSymbol) -> bool {
        if signal.number % 2 == 1 {
            return false;
        }
        let has_both = |address: u16| {
            let adjacent = [ProgramPoint::before(address), ProgramPoint::after(address)];
            { self.instruction(address) }.is_some_and(|it| uses_pair(&it, signal.number)) && {
                signal.live.iter()
            }
            .any(|range| adjacent.iter().any(|&point| range.contains(point)))
        };
        let mut addresses =
            { signal.live.iter() }.flat_map(|range| range.first.address..=range.last.address);
        !self.has_live_ranges() || addresses.any(has_both)
    }

    /// Returns the registers that the word at an address uses: those that a command moves, then the
    /// destination, then the sources.
    #[must_use]
    pub fn registers_used(&self, address: u16) -> Vec<RegisterUse> {
        let Some(instruction) = self.instruction(address) else {
            return Vec::new();
        };
        let mut uses = transfers(&instruction, address);
        for (role, operand) in instruction.register_operands() {
            let written = role == OperandRole::Dest;
            let side = match operand {
                Operand::STransfer(_) | Operand::DTransfer(_) if written => {
                    TransferDirection::Write
                }
                Operand::STransfer(_) | Operand::DTransfer(_) => TransferDirection::Read,
                Operand::Gpr(..) | Operand::GprAbsolute(..) | Operand::Nn(_) => {
                    TransferDirection::Both
                }
                _ => continue,
            };
            uses.push(RegisterUse {
                operand,
                side,
                point: ProgramPoint {
                    address,
                    after: written,
                },
                implied: false,
            });
        }
        uses
    }

    /// Returns the signals that the word at an address uses, ascending.
    #[must_use]
    pub fn signals_used(&self, address: u16) -> Vec<SignalUse> {
        let Some(instruction) = self.instruction(address) else {
            return Vec::new();
        };
        let (mask, after) = signal_mask(&instruction);
        (1..16u8)
            .filter(|number| mask & (1 << number) != 0)
            .map(|number| SignalUse {
                number,
                point: ProgramPoint { address, after },
            })
            .collect()
    }
}

/// Returns the name of the signals if they all have the same one.
fn common_name<'a>(mut signals: impl Iterator<Item = &'a SignalSymbol>) -> Option<&'a str> {
    let first = signals.next()?.name.as_str();
    signals.all(|it| it.name == first).then_some(first)
}

/// Returns the transfer registers that a command moves.
fn transfers(instruction: &Instruction, address: u16) -> Vec<RegisterUse> {
    let (register, pulled, pushed) = match instruction {
        Instruction::Command(command) => {
            let info = command.op.info();
            let words = |rule: Words| rule.of(u32::from(command.count));
            (
                command.transfer,
                words(info.pull_words),
                words(info.push_words),
            )
        }
        Instruction::CapCsr(access) => {
            let count = u32::from(access.count);
            match access.access {
                CapAccess::Read => (access.transfer, 0, count),
                CapAccess::Write => (access.transfer, count, 0),
                CapAccess::FastWriteAlu => return Vec::new(),
            }
        }
        _ => return Vec::new(),
    };
    let nth = |n: u32| match register {
        TransferRegister::None => None,
        TransferRegister::S(first) => Some(Operand::STransfer(first.wrapping_add(n as u8))),
        TransferRegister::D(first) => Some(Operand::DTransfer(first.wrapping_add(n as u8))),
    };
    // Pulled registers are used before the command, pushed ones after it.
    let sides = [
        (
            pulled,
            TransferDirection::Write,
            ProgramPoint::before(address),
        ),
        (
            pushed,
            TransferDirection::Read,
            ProgramPoint::after(address),
        ),
    ];
    let moved = |(count, side, point): (u32, TransferDirection, ProgramPoint)| {
        (0..count).filter_map(move |n| {
            Some(RegisterUse {
                operand: nth(n)?,
                side,
                point,
                implied: n > 0,
            })
        })
    };
    sides.into_iter().flat_map(moved).collect()
}

/// Returns the signal that a completion names.
const fn named_signal(completion: Completion) -> Option<u8> {
    match completion {
        Completion::Silent => None,
        Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => Some(signal),
    }
}

/// Whether an instruction uses an even signal as a pair: either a command that names it also raises
/// the odd one, or both are awaited.
fn uses_pair(instruction: &Instruction, even: u8) -> bool {
    let (mask, _) = signal_mask(instruction);
    let odd = 0b10 << even;
    match instruction {
        Instruction::Command(command) => {
            named_signal(command.completion) == Some(even) && mask & odd != 0
        }
        _ => mask & (odd | 1 << even) == odd | 1 << even,
    }
}

/// Returns the mask of an instruction's signals, and whether they are raised after the word.
fn signal_mask(instruction: &Instruction) -> (u16, bool) {
    match instruction {
        Instruction::Command(command) => {
            let rule = command.op.info().signals;
            let mask = named_signal(command.completion).map_or(0, |signal| rule.mask(signal));
            (mask, true)
        }
        Instruction::CapCsr(access) => {
            (named_signal(access.completion).map_or(0, |n| 1 << n), true)
        }
        Instruction::CtxArb(arb) => (arb.mask & !1, false),
        Instruction::BranchSignal { signal, .. } => (1 << signal, false),
        _ => (0, false),
    }
}
