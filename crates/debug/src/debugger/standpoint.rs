//! Where a run is looked at within a cycle.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use super::{Debugger, Selection, Stop};
use crate::search::CodePoint;
use crate::timeline::TimePoint;

/// Where a run is looked at within a cycle: with the cycle and the context it says which place in
/// the source is shown, so that another debugger can show the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standpoint {
    /// What of the cycle comes first ([`TimePoint::rank`]).
    pub rank: u8,
    /// The instruction that the context is shown at; none if it is the one at which the chip has
    /// it.
    pub pc: Option<u16>,
    /// How many uses of macros around the instruction are open.
    pub level: usize,
}

impl Debugger {
    /// Where in its cycle the run is looked at; nothing within the job of the core.
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

    /// Goes to a cycle and looks at the context as from there. What is not in the run (no such
    /// microengine, instruction or macro) is left out.
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
        let stop = self.go(moment, place);
        self.look.level = self.look.level.min(standpoint.level);
        stop
    }
}
