//! The position of a debugger within a cycle.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use super::{Debugger, Selection, Stop};
use crate::search::CodePoint;
use crate::timeline::TimePoint;

/// The position of a debugger within a cycle: together with the cycle and the context it determines
/// the displayed source location, so that another debugger can show the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standpoint {
    /// What comes next within the cycle ([`TimePoint::rank`]).
    pub rank: u8,
    /// The instruction at which the context is shown; `None` if it is the chip's own.
    pub pc: Option<u16>,
    /// The number of open macro uses around the instruction.
    pub level: usize,
}

impl Debugger {
    /// The current position within its cycle; `None` within a job of the core.
    #[must_use]
    pub fn standpoint(&self) -> Option<Standpoint> {
        let Selection {
            thread,
            place,
            level,
            ..
        } = self.look;
        let moment = self.timeline.moment();
        let place = place.filter(|it| (it.me, it.context) == (thread.me, thread.context));
        moment.core().is_none().then_some(Standpoint {
            rank: moment.rank,
            pc: place.map(|it| it.pc),
            level,
        })
    }

    /// Goes to a cycle and restores a position within it. Parts that do not exist in the run
    /// (microengine, instruction or macro) are ignored.
    pub fn goto_standpoint(&mut self, cycle: Cycle, standpoint: Standpoint) -> Stop {
        let thread = self.look.thread;
        let cores = self.chip().microengines().len();
        let words = self.image(thread.me).map_or(0, |it| it.words.len());
        let rank = Some(standpoint.rank).filter(|it| usize::from(*it) <= cores);
        let place = { standpoint.pc }
            .filter(|pc| !thread.is_core() && usize::from(*pc) < words)
            .map(|pc| CodePoint {
                me: thread.me,
                context: thread.context,
                pc,
            });
        let moment = TimePoint {
            rank: rank.unwrap_or(0),
            ..TimePoint::before(cycle)
        };
        let stop = self.goto_place(moment, place);
        self.look.level = self.look.level.min(standpoint.level);
        stop
    }
}
