//! The paths of packets: from the input line through the contexts that handled
//! them to the output line.

use std::collections::BTreeMap;
use std::io::Write;

use npsim_chip::Cycle;

use super::tracks::Track;
use super::writer::{FlowStep, Writer};

/// Maximum number of points on a packet's path; a packet of many mpackets is
/// touched often.
const MAX_POINTS: usize = 64;

/// The packets that are inside, by number.
#[derive(Debug, Default)]
pub(super) struct Journeys {
    inside: BTreeMap<u64, Vec<(Cycle, Track)>>,
}

impl Journeys {
    /// Begins the path of a frame that begins to arrive.
    pub fn begin(&mut self, frame: u64, at: Cycle, port: u8) {
        self.inside.insert(frame, vec![(at, Track::Arrivals(port))]);
    }

    /// Drops a frame's path, which will not be written.
    pub fn forget(&mut self, frame: u64) {
        self.inside.remove(&frame);
    }

    /// The cycle at which a frame that is inside began to arrive.
    pub fn began(&self, frame: u64) -> Option<Cycle> {
        self.inside.get(&frame)?.first().map(|point| point.0)
    }

    /// Records that a context handles a frame. Only a change of context is a
    /// point on the path.
    pub fn touch(&mut self, frame: u64, at: Cycle, me: u8, context: u8) {
        let track = Track::Context(me, context);
        if let Some(points) = self.inside.get_mut(&frame)
            && points.len() < MAX_POINTS
            && points.last().is_none_or(|last| last.1 != track)
        {
            points.push((at, track));
        }
    }

    /// Ends a frame's path with a last point and writes it.
    pub fn end<W: Write>(
        &mut self,
        frame: u64,
        last: Option<(Cycle, Track)>,
        writer: &mut Writer<W>,
    ) {
        if let Some(mut points) = self.inside.remove(&frame) {
            points.extend(last);
            write(frame, points, writer);
        }
    }

    /// Ends the paths of frames that are still inside at the end of the run.
    pub fn finish<W: Write>(self, writer: &mut Writer<W>) {
        for (frame, points) in self.inside {
            write(frame, points, writer);
        }
    }
}

/// Writes the points of a path that lie in the window, if there are at least two.
fn write<W: Write>(frame: u64, mut points: Vec<(Cycle, Track)>, writer: &mut Writer<W>) {
    points.retain(|point| writer.shows(point.0));
    points.sort_by_key(|point| point.0);
    let last = points.len().saturating_sub(1);
    if last == 0 {
        return;
    }
    for (n, (at, track)) in points.into_iter().enumerate() {
        let step = match n {
            0 => FlowStep::Start,
            n if n == last => FlowStep::End,
            _ => FlowStep::Through,
        };
        writer.flow(step, frame, track, at);
    }
}
