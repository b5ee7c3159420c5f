//! Who raised a context's signals last, and before that.
//!
//! A signal is one bit: when it is raised a second time before it was consumed, somebody's
//! signal is lost, and a message should say whose. So the last two are kept for each
//! signal of each context.

use serde::{Deserialize, Serialize};

use crate::kernel::check::Also;

/// Where a signal came from: a place in a program, the media interface, a timer, or
/// nobody knows. Packed, since there are thousands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raiser(u32);

impl Raiser {
    /// Nobody knows.
    pub const UNKNOWN: Self = Self(0);
    /// The media interface, which gave the context an mpacket or gave up waiting for one.
    pub const MEDIA: Self = Self(1);
    /// The context's timer.
    pub const TIMER: Self = Self(2);

    /// The instruction of a context: it raised the signal, or issued the command that did.
    #[inline]
    #[must_use]
    pub const fn at(me: u8, context: u8, pc: u16) -> Self {
        Self((me as u32 + 1) << 24 | (context as u32) << 16 | pc as u32)
    }

    /// Microengine, context and address, if it is an instruction.
    #[must_use]
    pub const fn place(self) -> Option<(u8, u8, u16)> {
        if self.0 >> 24 == 0 {
            return None;
        }
        Some((
            (self.0 >> 24) as u8 - 1,
            (self.0 >> 16) as u8,
            self.0 as u16,
        ))
    }

    /// What has no place in a program, in words.
    const fn elsewhere(self) -> &'static str {
        match self {
            Self::MEDIA => "by the media interface",
            Self::TIMER => "by the context's timer",
            _ => "by whom is not known",
        }
    }
}

/// A signal that was raised twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// Microengine, context and instruction of whoever was the second; those of the
    /// context whose signal it is if it was no instruction.
    pub second: (u8, u8, u16),
    /// The first, and the context itself.
    pub also: Vec<Also>,
    /// Who of them was no instruction.
    pub notes: Vec<String>,
}

/// Signals of a context, the unused 0 included.
const SIGNALS: usize = 16;
/// Signals of a microengine.
const OF_MICROENGINE: usize = 8 * SIGNALS;

/// The last two raisers of all signals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Raisers(Vec<[Raiser; 2]>);

impl Raisers {
    /// Nobody has raised anything.
    #[must_use]
    pub fn new(microengines: u8) -> Self {
        Self(vec![
            [Raiser::UNKNOWN; 2];
            usize::from(microengines) * OF_MICROENGINE
        ])
    }

    /// Signals are about to be raised; bit s is signal s.
    #[inline]
    pub fn note(&mut self, me: u8, context: u8, mut signals: u16, by: Raiser) {
        let first = usize::from(me) * OF_MICROENGINE + usize::from(context & 7) * SIGNALS;
        while signals != 0 {
            let signal = signals.trailing_zeros() as usize;
            signals &= signals - 1;
            if let Some([last, before]) = self.0.get_mut(first + signal) {
                (*before, *last) = (*last, by);
            }
        }
    }

    /// Who raised a signal last, and who before.
    #[must_use]
    pub fn of(&self, me: u8, context: u8, signal: u8) -> [Raiser; 2] {
        let at = usize::from(me) * OF_MICROENGINE
            + usize::from(context & 7) * SIGNALS
            + usize::from(signal & 15);
        self.0.get(at).copied().unwrap_or_default()
    }

    /// Who raised a signal of a context twice, which is at an instruction itself.
    #[must_use]
    pub fn twice(&self, (me, context, pc): (u8, u8, u16), signal: u8) -> Twice {
        let [second, first] = self.of(me, context, signal);
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
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Raiser, Raisers};

    #[test]
    fn the_last_two_are_known() {
        let mut raisers = Raisers::new(2);
        let (first, second) = (Raiser::at(0, 7, 300), Raiser::at(1, 0, 0));
        assert_eq!(raisers.of(1, 3, 5), [Raiser::UNKNOWN; 2]);
        raisers.note(1, 3, 1 << 5 | 1 << 6, first);
        raisers.note(1, 3, 1 << 5, second);
        assert_eq!(raisers.of(1, 3, 5), [second, first]);
        assert_eq!(raisers.of(1, 3, 6), [first, Raiser::UNKNOWN]);
        assert_eq!(
            (first.place(), Raiser::TIMER.place()),
            (Some((0, 7, 300)), None)
        );
        // There is no such microengine.
        raisers.note(2, 0, 2, first);
    }
}
