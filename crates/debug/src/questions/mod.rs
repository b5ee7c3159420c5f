//! Questions whose answers require moving through the run in both directions.

mod buffer;
mod change;
mod packet;
mod wake;
mod who;

pub use buffer::{BufferView, HandleHolder};
pub use packet::{PacketEvent, PacketTrail};
pub use wake::Wakeup;
pub use who::AttributedEvent;

use npsim_chip::kernel::trace_event::Cause;
use npsim_inspect::Inspect;

use crate::debugger::Debugger;
use crate::search::CodePoint;

impl Debugger {
    /// `4.3 at ring.uc:12 (in ring_put, main.uc:40)`.
    #[must_use]
    pub fn place_text(&self, place: CodePoint) -> String {
        let CodePoint { me, context, pc } = place;
        let at = self
            .image(me)
            .map_or_else(|| pc.to_string(), |image| image.place(pc));
        format!("{me}.{context} at {at}")
    }

    /// The origin of a signal, with its cause.
    #[must_use]
    pub fn cause_text(&self, cause: Cause) -> String {
        let what = npsim_observe::names::cause(cause);
        match cause.place() {
            Some((me, context, pc)) => {
                format!(
                    "{what} of {}",
                    self.place_text(CodePoint { me, context, pc })
                )
            }
            None => what,
        }
    }

    /// Why a context does not go on, in sentences, most important first.
    #[must_use]
    pub fn why(&self, thread: crate::Thread) -> Vec<String> {
        let inspect = Inspect::new(self.chip());
        match inspect.why(thread.me, thread.context) {
            Some(why) => inspect.why_text(thread.me, thread.context, &why),
            None => vec![format!("there is no context {thread}")],
        }
    }
}
