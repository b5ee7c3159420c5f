//! What happened when: a [`Recorder`] observes a run and writes the events in a [`TimeWindow`] as
//! Chrome trace events, which the Perfetto viewer displays.
//!
//! Events are written as the run proceeds, and only open ones are kept: the present state of each
//! context and the journeys of the packets inside.

mod journeys;
mod network;
mod recorder;
mod tracks;
mod window;
mod writer;

pub use network::{NetworkTimeline, NetworkTimes, RouterObserver, SenderState};
pub use recorder::Recorder;
pub use tracks::Track;
pub use window::{DEFAULT_MICROSECONDS, TimeWindow};
