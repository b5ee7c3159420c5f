//! Records of the command or context that raised each signal.
//!
//! A signal is one bit: if it is raised a second time before it is consumed, one of the two is
//! lost, and a message should name both raisers. For signals sent by contexts and timers, the last
//! two raisers are kept. Those of commands are far too many; the second is the command still in
//! flight, and the first is one of the commands in the program that raise the same signal.

use npsim_isa::{CONTEXTS, CommandOp, context_index};
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::check::RelatedPlace;
use crate::kernel::command::BusCommand;
use crate::kernel::trace_event::Cause;

/// The origin of a signal: a place in a program, a timer, or unknown. Packed, since there are
/// thousands: from the top, the microengine's index plus one (8 bits), the context (3), the address
/// (14), and the index of a command's operation plus one (7). Without a microengine it is one of
/// the constants below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalSource(u32);

const _: () = assert!(CommandOp::ALL.len() < 0x7f);

impl SignalSource {
    /// An unknown source.
    pub const UNKNOWN: Self = Self(0);
    /// The timer of the context.
    pub const TIMER: Self = Self(1);

    /// An instruction with which a context raises a signal itself: context 0 to 7, address below
    /// 16,384.
    #[inline]
    #[must_use]
    pub const fn at(me: u8, context: u8, pc: u16) -> Self {
        Self((me as u32 + 1) << 24 | (context as u32) << 21 | (pc as u32) << 7)
    }

    /// A command as a source.
    #[inline]
    #[must_use]
    pub const fn of(command: &BusCommand) -> Self {
        let Self(at) = Self::at(command.me, command.context, command.pc);
        Self(at | (command.op as u32 + 1))
    }

    /// A unique number, which orders raisers.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Microengine, context and address of the instruction; `None` if the source is not an
    /// instruction.
    #[must_use]
    pub const fn place(self) -> Option<(u8, u8, u16)> {
        if self.0 >> 24 == 0 {
            return None;
        }
        Some((
            (self.0 >> 24) as u8 - 1,
            (self.0 >> 21) as u8 % CONTEXTS,
            (self.0 >> 7) as u16 & 0x3fff,
        ))
    }

    /// The cause given in trace events. Of sources outside a program, only timers raise signals.
    #[must_use]
    pub fn cause(self) -> Cause {
        let Some((me, context, pc)) = self.place() else {
            return Cause::Timer;
        };
        let op = (self.0 as usize & 0x7f).checked_sub(1);
        match op.and_then(|number| CommandOp::ALL.get(number)) {
            Some(&op) => Cause::Command {
                op,
                me,
                context,
                pc,
            },
            None => Cause::Thread { me, context, pc },
        }
    }

    /// Describes a source outside a program.
    const fn elsewhere(self) -> &'static str {
        match self {
            Self::TIMER => "by the context's timer",
            _ => "by whom is not known",
        }
    }
}

/// A signal that was raised twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubleSignal {
    /// Microengine, context and instruction of the second raiser, or of the context that owns the
    /// signal if the raiser was not an instruction.
    pub second: (u8, u8, u16),
    /// The first raiser, and the context itself.
    pub also: Vec<RelatedPlace>,
    /// A note on each raiser that was not an instruction.
    pub notes: Vec<String>,
}

/// Signals of a context, including the unused signal 0.
const SIGNALS: usize = 16;
/// Signals of a microengine.
const OF_MICROENGINE: usize = CONTEXTS as usize * SIGNALS;

/// A signal: microengine, context and number.
type Signal = (u8, u8, u8);

/// The last two raisers of all signals that are not raised by commands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SignalSources {
    all: Vec<[SignalSource; 2]>,
    /// The cycle of the last record, and the index of its signal.
    noted: (Cycle, u16),
}

impl SignalSources {
    /// Creates an empty record.
    #[must_use]
    pub fn new(microengines: u8) -> Self {
        let count = usize::from(microengines) * OF_MICROENGINE;
        Self {
            all: vec![[SignalSource::UNKNOWN; 2]; count],
            noted: (Cycle::MAX, 0),
        }
    }

    /// Records that a signal is about to be raised, other than by a command.
    #[inline]
    pub fn note(&mut self, now: Cycle, signal: Signal, by: SignalSource) {
        let place = place(signal);
        self.noted = (now, place as u16);
        if let Some([last, before]) = self.all.get_mut(place) {
            (*before, *last) = (*last, by);
        }
    }

    /// The last two raisers of a signal.
    #[must_use]
    pub fn of(&self, signal: Signal) -> [SignalSource; 2] {
        self.all.get(place(signal)).copied().unwrap_or_default()
    }

    /// Whether the last record, at this cycle, is of this signal.
    pub(crate) fn has_just_noted(&self, now: Cycle, signal: Signal) -> bool {
        self.noted == (now, place(signal) as u16)
    }

    /// The raisers of a signal raised twice for a context, which is at this instruction.
    #[must_use]
    pub fn explain_double(&self, (me, context, pc): (u8, u8, u16), signal: u8) -> DoubleSignal {
        let [second, first] = self.of((me, context, signal));
        let mut found = DoubleSignal {
            second: (me, context, pc),
            also: Vec::new(),
            notes: Vec::new(),
        };
        let mut also = |(me, context, pc): (u8, u8, u16), what: String| {
            found.also.push(RelatedPlace {
                me,
                context,
                pc,
                what,
            });
        };
        match first.place() {
            Some(place) => also(
                place,
                format!("raised first by ME {} context {}", place.0, place.1),
            ),
            None => found
                .notes
                .push(format!("it was raised first {}", first.elsewhere())),
        }
        if let Some(place) = second.place() {
            also(
                (me, context, pc),
                format!("ME {me} context {context}, whose signal it is, is here"),
            );
            found.second = place;
        } else {
            let by = second.elsewhere();
            found.notes.push(format!("it was raised again {by}"));
        }
        found
    }

    /// The number of signals.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

fn place((me, context, signal): Signal) -> usize {
    usize::from(me) * OF_MICROENGINE + context_index(context) * SIGNALS + usize::from(signal & 15)
}

#[cfg(test)]
mod tests {
    use npsim_isa::CommandOp;

    use super::{Cause, SignalSource, SignalSources};
    use crate::kernel::command::{BusCommand, TransferKind};

    #[test]
    fn signal_sources_round_trip_through_packing() {
        let (me, context) = (254, 7);
        for pc in [0, 16383] {
            let thread = SignalSource::at(me, context, pc);
            assert_eq!(thread.place(), Some((me, context, pc)));
            assert_eq!(thread.cause(), Cause::Thread { me, context, pc });
            for op in CommandOp::ALL {
                let command = BusCommand {
                    me,
                    context,
                    pc,
                    ..BusCommand::blank(op, TransferKind::S)
                };
                assert_eq!(SignalSource::of(&command).place(), Some((me, context, pc)));
                assert_eq!(SignalSource::of(&command).cause(), Cause::of(&command));
            }
        }
        assert_eq!(SignalSource::TIMER.cause(), Cause::Timer);
    }

    #[test]
    fn last_two_signal_sources_are_remembered() {
        let mut raisers = SignalSources::new(2);
        let (first, second) = (SignalSource::at(0, 7, 300), SignalSource::at(1, 0, 0));
        assert_eq!(raisers.of((1, 3, 5)), [SignalSource::UNKNOWN; 2]);
        raisers.note(10, (1, 3, 5), first);
        assert!(raisers.has_just_noted(10, (1, 3, 5)));
        raisers.note(12, (1, 3, 5), second);
        assert!(!raisers.has_just_noted(10, (1, 3, 5)));
        assert_eq!(raisers.of((1, 3, 5)), [second, first]);
        assert_eq!(raisers.of((1, 3, 6)), [SignalSource::UNKNOWN; 2]);
        assert_eq!(
            (first.place(), SignalSource::TIMER.place()),
            (Some((0, 7, 300)), None)
        );
        // The chip has no such microengine.
        raisers.note(13, (2, 0, 2), first);
    }
}
