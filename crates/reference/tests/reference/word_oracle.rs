//! Command words read by bit position, independently of the instruction tables.
//!
//! The registers that a word moves are stated here a third time, from the layout of the words
//! alone, to detect a misreading shared by the two cores, which use the same decoder.

use npsim_chip::core::{CoreKind, Program};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{BusCommand, Fabric, TransferKind};
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::units::Units;
use npsim_engine::ENGINE;
use npsim_image::{ContextMode, Image};
use npsim_isa::{ContextSet, Instruction, Target, TransferRegister, decode_in};
use npsim_profile::Profile;
use npsim_reference::REFERENCE;

/// Bits 39 to 32 of a command that names a transfer register, its token (bits 19 and 18), and how
/// many references it makes.
struct Row {
    name: &'static str,
    top: u64,
    token: u64,
    count: u8,
}

const fn row(name: &'static str, top: u64, token: u64, count: u8) -> Row {
    Row {
        name,
        top,
        token,
        count,
    }
}

/// `sram` is 00, `scratch` 01, `dram` 1010, `cap` of a register 1100, `hash` 11011, `msf` 11110 in
/// the bits from 37 down; the command stands behind.
const COMMANDS: [Row; 21] = [
    row("sram[read]", 0x00, 0, 2),
    row("sram[write]", 0x01, 0, 2),
    row("sram[test_and_set]", 0x03, 1, 1),
    row("sram[add]", 0x05, 0, 1),
    row("sram[get]", 0x09, 1, 2),
    row("sram[put]", 0x09, 0, 2),
    row("sram[dequeue]", 0x0b, 0, 1),
    row("scratch[read]", 0x10, 0, 2),
    row("scratch[write]", 0x11, 0, 2),
    row("scratch[test_and_sub]", 0x16, 1, 1),
    row("scratch[get]", 0x19, 0, 2),
    row("scratch[put]", 0x1a, 0, 2),
    row("dram[read]", 0x28, 0, 1),
    row("dram[write]", 0x29, 0, 1),
    row("cap[read]", 0x30, 0, 1),
    row("cap[write]", 0x31, 0, 1),
    row("hash_48", 0x36, 0, 1),
    row("hash_64", 0x36, 1, 1),
    row("hash_128", 0x36, 2, 1),
    row("msf[read]", 0x3c, 0, 2),
    row("msf[write]", 0x3d, 0, 2),
];

/// The signal of all of them: an even number, because some raise two.
const SIGNAL: u8 = 4;

impl Row {
    fn is_hash(&self) -> bool {
        self.top == 0x36
    }

    /// The word with a transfer field. The address is `SCRATCH_RING_BASE_0` (0x4800) of the CAP,
    /// else `a0` and the constant 0, or nothing for the hash unit, which takes none.
    fn word(&self, field: u64) -> u64 {
        let references = u64::from(self.count - u8::from(!self.is_hash()));
        let (b, a) = match self.top {
            0x30 | 0x31 => (0x48, 0x00),
            0x36 => (0x00, 0x00),
            _ => (0x20, 0x00),
        };
        self.top << 32
            | u64::from(SIGNAL) << 28
            | references << 25
            | field << 20
            | self.token << 18
            | b << 10
            | 3 << 8
            | a
    }
}

/// The registers that a command word moves.
#[derive(Debug, PartialEq, Eq)]
struct Moved {
    kind: TransferKind,
    /// In the context's own registers.
    register: u8,
    /// Of all 128.
    absolute: u8,
    count: u8,
    signal: u8,
}

/// Bits 31 to 28 are the signal, 27 to 25 the references less one (for `hash` as they are), 24 to
/// 20 the transfer register. With eight contexts bit 24 names the other kind of register than the
/// unit's own, with four it is part of the number.
fn moved(word: u64, four: bool, context: u8) -> Moved {
    assert_eq!(word >> 39, 0, "a command");
    let is_dram = word >> 34 & 0b1111 == 0b1010;
    let is_hash = word >> 33 & 0b1_1111 == 0b1_1011;
    let high = word >> 24 & 1;
    let low = (word >> 20 & 0b1111) as u8;
    let (is_d, register, first) = if four {
        (is_dram, 16 * high as u8 + low, context / 2 * 32)
    } else {
        (is_dram != (high == 1), low, context * 16)
    };
    Moved {
        kind: if is_d {
            TransferKind::D
        } else {
            TransferKind::S
        },
        register,
        absolute: first + register,
        count: (word >> 25 & 0b111) as u8 + u8::from(!is_hash),
        signal: (word >> 28 & 0b1111) as u8,
    }
}

#[derive(Default)]
struct Commands(Vec<BusCommand>);

impl Observer for Commands {
    fn see(&mut self, _: u64, event: &TraceEvent) {
        if let TraceEvent::Command { command, .. } = *event {
            self.0.push(command);
        }
    }
}

/// The command issued by a core that executes a word, then `ctx_arb[kill]`.
fn issued(kind: CoreKind, word: u64, mode: ContextMode, context: u8) -> BusCommand {
    const KILL: u64 = 0xe0_0001_0000;
    let profile = Profile::load("ixp2400").unwrap();
    let mut image = Image::from_words("word", vec![word, KILL]);
    image.contexts = mode;
    let mut fabric = Fabric::new(profile.clone(), Units::inlets);
    fabric.watch(EventKinds::ALL);
    fabric.checks.allow(Check::UninitialisedRead);
    let mut core = (kind.make)(0, &profile);
    core.load(Program::new(&image, &profile).unwrap());
    core.start(ContextSet::from_bits(1 << context), &mut fabric);
    let mut commands = Commands::default();
    fabric.horizon = 100;
    while fabric.events.next_time() < fabric.horizon && commands.0.is_empty() {
        let (time, event) = fabric.events.pop().unwrap();
        fabric.now = time;
        if let Event::Microengine(0) = event {
            core.run(&mut fabric);
        }
        fabric.trace.flush(u64::MAX, &mut commands);
        assert_eq!(fabric.checks.fault(), None, "{word:010x}");
    }
    assert_eq!(commands.0.len(), 1, "{word:010x}");
    commands.0[0]
}

/// Fields with which all registers that a command moves are the context's own.
fn fields(command: &Row, four: bool) -> impl Iterator<Item = u64> {
    // The widest, `hash_128`, moves four longwords.
    let end = if four { 28 } else { 12 };
    let step = if command.top >> 2 == 0x0a { 2 } else { 1 };
    (0..32).filter(move |field| {
        let within = if four { *field } else { field % 16 };
        within <= end && field % step == 0
    })
}

#[test]
fn command_transfers_match_the_word_oracle_in_both_modes() {
    for (mode, contexts) in [
        (ContextMode::Eight, [0, 3, 7]),
        (ContextMode::Four, [0, 2, 6]),
    ] {
        let four = mode == ContextMode::Four;
        for command in &COMMANDS {
            for field in fields(command, four) {
                let word = command.word(field);
                for (kind, name) in [(ENGINE, "engine"), (REFERENCE, "reference")] {
                    for context in contexts {
                        let wanted = moved(word, four, context);
                        let bus = issued(kind, word, mode, context);
                        let signals = bus.pull_signals | bus.push_signals;
                        let found = Moved {
                            kind: bus.transfer_kind,
                            register: wanted.register,
                            absolute: bus.transfer,
                            count: bus.count,
                            signal: signals.trailing_zeros() as u8,
                        };
                        let what = command.name;
                        assert_eq!(found, wanted, "{what} {word:010x} {mode:?} {name}");
                        assert_eq!(bus.signal_context, context, "{what} {word:010x} {name}");
                    }
                }
            }
        }
    }
}

#[test]
fn decoded_transfer_registers_match_the_word_oracle_in_both_modes() {
    for mode in [ContextMode::Eight, ContextMode::Four] {
        for command in &COMMANDS {
            for field in 0..32 {
                let word = command.word(field);
                let instruction = decode_in(word, Target::with_mode(mode)).unwrap();
                let transfer = match instruction {
                    Instruction::Command(command) => command.transfer,
                    Instruction::CapCsr(access) => access.transfer,
                    other => panic!("{word:010x} is {other}"),
                };
                let wanted = moved(word, mode == ContextMode::Four, 0);
                let register = match wanted.kind {
                    TransferKind::S => TransferRegister::S(wanted.register),
                    TransferKind::D => TransferRegister::D(wanted.register),
                };
                assert_eq!(transfer, register, "{word:010x} {instruction} {mode:?}");
                let name = command.name.trim_end_matches(']');
                assert!(instruction.to_string().starts_with(name), "{instruction}");
            }
        }
    }
}
