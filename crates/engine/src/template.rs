//! The part of a command that is known before it is issued: the unit and its operation, the amount
//! of data, and the signals.

use std::num::NonZeroU8;

use npsim_isa::{
    Command, CommandInfo, CommandOp, Completion, Context, SignalRule, TransferRegister, Unit,
    msf_csr,
};

use crate::registers::{SlotMask, transfer_file};
use crate::scoreboard::{RegisterRange, Reservation};
use npsim_chip::kernel::fabric::{BusCommand, TransferKind};

/// The parts of a command, other than its address, that remain unresolved until it is issued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unresolved {
    /// Whether it carries data above its address.
    pub data: bool,
    /// Whether an override word changes it.
    pub overridden: bool,
}

/// A command without its issuer and its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTemplate {
    /// Complete except for the microengine, the context and their registers.
    command: BusCommand,
    /// First transfer register, relative to the context.
    register: u8,
    /// Longwords pulled from its microengine's registers, and pushed to them.
    pulled: u8,
    pushed: u8,
    /// Whether the command names transfer registers.
    transfers: bool,
    open: Unresolved,
    completion: Completion,
    /// The signals until which the context yields the pipeline, if it does.
    swap: Option<(u16, Swap)>,
}

/// A context swap after a number of defer slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swap {
    /// The number of slots plus one, so that an `Option` of this type takes no extra space.
    slots: NonZeroU8,
}

impl Swap {
    /// Creates a swap after a number of slots.
    pub const fn after(slots: u8) -> Self {
        let slots = NonZeroU8::MIN.saturating_add(slots);
        Self { slots }
    }

    /// The number of slots before the swap.
    pub const fn slots(self) -> u8 {
        self.slots.get() - 1
    }
}

/// A command of one context, without its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundCommand {
    pub command: BusCommand,
    /// The unit that serves the command.
    pub unit: Unit,
    /// The registers that it pulls from and pushes to.
    pub pulled: RegisterRange,
    pub pushed: RegisterRange,
    /// Addresses from here on take the fast path: only the address is unresolved, and the slots in
    /// each direction are bits of a single word. `u64::MAX` if no address does. For writes to the
    /// media interface, the range starts after the freelists, since putting a context on a freelist
    /// gives registers away.
    pub fast_from: u64,
    /// As in the template.
    pub swap: Option<(u16, Swap)>,
    pub transfers: bool,
    pub open: Unresolved,
    pub completion: Completion,
}

impl BoundCommand {
    /// Whether the command is complete except for the data that it carries above its address, moves
    /// no registers and does not swap.
    #[inline]
    pub const fn carries_data(&self) -> bool {
        let moves = self.pulled.reservation.words != 0 || self.pushed.reservation.words != 0;
        self.open.data && !self.open.overridden && !moves && self.swap.is_none()
    }
}

/// The numbers of longwords that a command pulls and pushes.
pub(crate) fn words_of(info: &CommandInfo, count: u8, immediate: bool) -> (u8, u8) {
    let count = u32::from(count);
    let pulled = if immediate {
        0
    } else {
        info.pull_words.of(count).min(32) as u8
    };
    (pulled, info.push_words.of(count).min(32) as u8)
}

/// The signals of a completion that are raised when data has been pulled, and when it has been
/// pushed.
pub(crate) fn signals_of(
    info: &CommandInfo,
    completion: Completion,
    (pulled, pushed): (u8, u8),
    immediate: bool,
) -> (u16, u16) {
    let signal = match completion {
        Completion::Silent => 0,
        Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => signal,
    };
    if signal == 0 || immediate && pushed == 0 {
        return (0, 0);
    }
    let (one, other) = (1 << signal, 1 << (signal | 1));
    match info.signals {
        SignalRule::None => (0, 0),
        SignalRule::Single if pulled != 0 && pushed == 0 => (one, 0),
        SignalRule::Single => (0, one),
        SignalRule::Pair if pulled != 0 && pushed == 0 => (one | other, 0),
        SignalRule::Pair => (0, one | other),
        SignalRule::PullPush if pulled != 0 => (one, other),
        SignalRule::PullPush | SignalRule::PushOdd => (0, other),
    }
}

/// The signals awaited by a context that swaps out with a command.
pub(crate) const fn awaited(pull_signals: u16, push_signals: u16, signal: u8) -> u16 {
    match pull_signals | push_signals {
        0 => 1 << signal,
        raised => raised,
    }
}

/// The kind of registers that an instruction names, and the first of them.
pub(crate) const fn registers_of(
    info: &CommandInfo,
    transfer: TransferRegister,
) -> (TransferKind, u8) {
    match transfer {
        TransferRegister::S(n) => (TransferKind::S, n),
        TransferRegister::D(n) => (TransferKind::D, n),
        TransferRegister::None => match info.default_transfer {
            npsim_isa::TransferKind::S => (TransferKind::S, 0),
            npsim_isa::TransferKind::D => (TransferKind::D, 0),
        },
    }
}

/// The address after the media interface's freelists, rounded up for commands that move quadwords.
const FREELISTS_END: u64 = (msf_csr::RX_THREAD_FREELIST_2 as u64 + 4).next_multiple_of(8);

/// Whether a command writes to the media interface, whose freelists may be there.
pub(crate) fn is_media_write(op: CommandOp) -> bool {
    matches!(
        op,
        CommandOp::MsfFastWr | CommandOp::MsfWrite | CommandOp::MsfWrite64
    )
}

impl CommandTemplate {
    /// Creates the template of a command at an address, once when a program is loaded.
    ///
    /// It contains everything that the instruction itself determines: the number of longwords in
    /// each direction, the signals at the end of each, and those awaited by a context that swaps
    /// out. Anything determined only at run time is `open`: the data of a `fast_wr`, and whatever
    /// an `indirect_ref` overrides (`override_with` of `commands.rs`). [`Self::bind`] adds the
    /// context; the address comes with each issue.
    pub fn of(command: &Command, pc: u16) -> Self {
        let info = command.op.info();
        let (kind, register) = registers_of(info, command.transfer);
        let count = command.count.max(1);
        let fast = command.op == CommandOp::MsfFastWr;
        let (pulled, pushed) = words_of(info, count, fast);
        let (pull_signals, push_signals) =
            signals_of(info, command.completion, (pulled, pushed), fast);
        let transfers = command.transfer != TransferRegister::None;
        Self {
            command: BusCommand {
                pc,
                count,
                pull_signals,
                push_signals,
                ..BusCommand::blank(command.op, kind)
            },
            register,
            pulled: if transfers { pulled } else { 0 },
            pushed: if transfers { pushed } else { 0 },
            transfers,
            open: Unresolved {
                data: fast,
                overridden: command.indirect,
            },
            completion: command.completion,
            swap: match command.completion {
                Completion::CtxSwap { signal, defer } => {
                    let mask = awaited(pull_signals, push_signals, signal);
                    Some((mask, Swap::after(defer)))
                }
                Completion::Silent | Completion::SigDone(_) => None,
            },
        }
    }

    /// Binds the command to a context of a microengine. It names only that context's registers.
    ///
    /// `fast_from` determines whether an issue may skip the checks of `commands.rs`: never if
    /// something is open, or if the registers do not lie within one word of the scoreboard's bits
    /// ([`SlotMask`]); for writes to the media interface only after its freelists, since writes to
    /// these reserve other registers.
    pub fn bind(&self, me: u8, context: Context) -> BoundCommand {
        let mut command = self.command;
        (command.me, command.transfer_me) = (me, me);
        (command.context, command.signal_context) = (context.number(), context.number());
        command.transfer = context.absolute_register(self.register);
        let mut fits = !self.open.data && !self.open.overridden;
        let mut moved = |words: u8, incoming| {
            let file = transfer_file(command.transfer_kind, incoming);
            let first = file + u16::from(command.transfer);
            let here = SlotMask::new(first, words);
            fits &= here.is_some();
            let by = (command.context, command.pc);
            RegisterRange {
                reservation: Reservation::new(command.op, (first, words), by, 0),
                here: here.unwrap_or(SlotMask::NONE),
            }
        };
        BoundCommand {
            pulled: moved(self.pulled, false),
            pushed: moved(self.pushed, true),
            fast_from: match (fits, is_media_write(command.op)) {
                (false, _) => u64::MAX,
                (true, true) => FREELISTS_END,
                (true, false) => 0,
            },
            unit: command.op.info().unit,
            command,
            swap: self.swap,
            transfers: self.transfers,
            open: self.open,
            completion: self.completion,
        }
    }
}
