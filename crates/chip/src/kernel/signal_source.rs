//! Records of which command or context raised each signal.
//!
//! A signal is one bit: when it is raised a second time before it was consumed, one of
//! the two is lost, and a message should say whose. Of signals that contexts send and of
//! those of timers the last two raisers are kept. Those of commands are far too many; the
//! second is the command that is in flight still, and the first is one of those in the
//! program that raise the same signal.

use npsim_isa::{CONTEXTS, CommandOp, context_index};
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::check::Also;
use crate::kernel::command::BusCommand;
use crate::kernel::trace_event::Cause;

/// Where a signal came from: a place in a program, a timer, or unknown. Packed, since
/// there are thousands: from the top one more than the microengine's index (8 bits), context
/// (3), address (14), and one more than the number of a command's operation (7). Without a
/// microengine it is one of those below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalSource(u32);

const _: () = assert!(CommandOp::ALL.len() < 0x7f);

impl SignalSource {
    /// Unknown.
    pub const UNKNOWN: Self = Self(0);
    /// The context's timer.
    pub const TIMER: Self = Self(1);

    /// The instruction of a context that raises a signal itself: context 0 to 7, address below
    /// 16,384.
    #[inline]
    #[must_use]
    pub const fn at(me: u8, context: u8, pc: u16) -> Self {
        Self((me as u32 + 1) << 24 | (context as u32) << 21 | (pc as u32) << 7)
    }

    /// A command.
    #[inline]
    #[must_use]
    pub const fn of(command: &BusCommand) -> Self {
        let Self(at) = Self::at(command.me, command.context, command.pc);
        Self(at | (command.op as u32 + 1))
    }

    /// A number of its own, which orders raisers.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Microengine, context and address, if it is an instruction.
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

    /// The cause that trace events give. Of what has no place in a program only timers raise
    /// signals.
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

    /// What has no place in a program, in words.
    const fn elsewhere(self) -> &'static str {
        match self {
            Self::TIMER => "by the context's timer",
            _ => "by whom is not known",
        }
    }
}

/// A signal that was raised twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// Microengine, context and instruction of the second; those of the
    /// context whose signal it is if it was no instruction.
    pub second: (u8, u8, u16),
    /// The first, and the context itself.
    pub also: Vec<Also>,
    /// A note on each raiser that was no instruction.
    pub notes: Vec<String>,
}

/// Signals of a context, the unused 0 included.
const SIGNALS: usize = 16;
/// Signals of a microengine.
const OF_MICROENGINE: usize = CONTEXTS as usize * SIGNALS;

/// A signal: microengine, context and number.
type Signal = (u8, u8, u8);

/// The last two raisers of all signals that no command raises.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SignalSources {
    all: Vec<[SignalSource; 2]>,
    /// When something was noted last, and the place of which signal.
    noted: (Cycle, u16),
}

impl SignalSources {
    /// No signal was raised.
    #[must_use]
    pub fn new(microengines: u8) -> Self {
        let count = usize::from(microengines) * OF_MICROENGINE;
        Self {
            all: vec![[SignalSource::UNKNOWN; 2]; count],
            noted: (Cycle::MAX, 0),
        }
    }

    /// A signal is about to be raised, by no command.
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

    /// Whether what has just been noted is this signal.
    pub(crate) fn has_just_noted(&self, now: Cycle, signal: Signal) -> bool {
        self.noted == (now, place(signal) as u16)
    }

    /// The raisers of a signal that was raised twice for a context, which is at this instruction.
    #[must_use]
    pub fn twice(&self, (me, context, pc): (u8, u8, u16), signal: u8) -> Twice {
        let [second, first] = self.of((me, context, signal));
        let mut found = Twice {
            second: (me, context, pc),
            also: Vec::new(),
            notes: Vec::new(),
        };
        let mut also = |(me, context, pc): (u8, u8, u16), what: String| {
            found.also.push(Also {
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

    /// How many there are.
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
    fn packed_sources_come_out_unchanged() {
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
    fn the_last_two_are_known() {
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
        // There is no such microengine.
        raisers.note(13, (2, 0, 2), first);
    }
}
