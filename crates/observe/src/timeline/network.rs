//! The timeline of a network of hosts: the senders of flows over the whole run, and below them, in
//! a window, everything about each chip.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::{Batch, Observer};
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_project::Project;

use super::recorder::Recorder;
use super::tracks::{Track, TrackGroup};
use super::writer::{ChipPart, Titles, Writer};
use crate::series::Series;
use npsim_project::atomic_file::AtomicFile;

/// Picoseconds per second: times of a network are cycles of such a clock.
const PICOSECONDS: u64 = 1_000_000_000_000;
/// Distance between the group numbers of two chips.
const APART: u32 = 100;

/// The part of a run that is shown, in picoseconds of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkTimes {
    /// Start and end of the window for the chips; flows are shown over the whole run.
    pub window: (u64, u64),
    /// The minimum time between two values of a number outside the window.
    pub spacing: u64,
}

/// The observable state of a flow's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderState {
    /// The sender's state, if the connection is open.
    pub state: Option<&'static str>,
    /// Congestion window in bytes.
    pub window: Option<u64>,
    /// Bytes estimated to be in flight.
    pub in_flight: Option<u64>,
    /// Smoothed round-trip time in picoseconds.
    pub srtt: Option<u64>,
    /// Rate in bytes of IP per second.
    pub rate: Option<u64>,
    /// Retransmitted segments so far.
    pub retransmitted: u64,
    /// Expiries of the retransmission timer, so far.
    pub timeouts: u64,
}

/// What is known about a flow.
#[derive(Debug)]
struct FlowTrack {
    now: SenderState,
    /// The time at which its state began.
    since: u64,
    /// The names of its numbers, and the time and value last written for each.
    numbers: [(String, Option<(u64, u64)>); 4],
}

/// Text that is taken away piece by piece.
type Text = Vec<u8>;

/// The part of a timeline for one chip. Clones share it.
#[derive(Clone, Debug)]
pub struct RouterObserver(Arc<Mutex<Recorder<Text>>>);

impl RouterObserver {
    fn recorder(&self) -> MutexGuard<'_, Recorder<Text>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for RouterObserver {
    fn wants(&self) -> EventKinds {
        self.recorder().wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.recorder().see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.recorder().needs_order()
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        self.recorder().see_batch(events);
    }
}

/// Writes the timeline of a network.
#[derive(Debug)]
pub struct NetworkTimeline {
    writer: Writer<AtomicFile>,
    times: NetworkTimes,
    flows: Vec<FlowTrack>,
    routers: Vec<RouterObserver>,
    /// The queue lengths last written.
    queues: Vec<Option<u64>>,
}

impl NetworkTimeline {
    /// A timeline of a network and its flows, with their names.
    #[must_use]
    pub fn new(file: AtomicFile, name: &str, flows: &[String], times: NetworkTimes) -> Self {
        let titles = Titles {
            flows: flows.to_vec(),
            ..Titles::default()
        };
        let mut writer = Writer::new(file, name, PICOSECONDS, (0, u64::MAX), titles);
        // The text for chips is appended after an event.
        writer.begin_group(TrackGroup::Flows);
        let flow = |name: &String| FlowTrack {
            now: SenderState::default(),
            since: 0,
            numbers: [
                "window, bytes",
                "in flight, bytes",
                "round-trip time, ns",
                "rate, bytes/s",
            ]
            .map(|what| (format!("{name}: {what}"), None)),
        };
        Self {
            writer,
            times,
            flows: flows.iter().map(flow).collect(),
            routers: Vec::new(),
            queues: Vec::new(),
        }
    }

    /// An observer for the network's next chip, which must not have run yet.
    pub fn router(&mut self, name: &str, project: &Project, chip: &Chip) -> RouterObserver {
        let hertz = project.capacity.hertz;
        let cycle = |time: u64| {
            let cycles = u128::from(time) * u128::from(hertz) / u128::from(PICOSECONDS);
            u64::try_from(cycles).unwrap_or(u64::MAX)
        };
        let (from, until) = self.times.window;
        let part = ChipPart {
            base: APART * (self.routers.len() as u32 + 1),
            before: format!("{name}: "),
        };
        let recorder = Recorder::new(Text::new(), name, chip, (cycle(from), cycle(until)));
        let recorder = recorder
            .of_part(part)
            .with_ring_names(Series::new(project).places());
        let observer = RouterObserver(Arc::new(Mutex::new(recorder)));
        self.routers.push(observer.clone());
        observer
    }

    /// Records the state of a flow's sender after an action.
    pub fn sender(&mut self, at: u64, flow: usize, now: SenderState) {
        let Some(it) = self.flows.get_mut(flow) else {
            return;
        };
        let track = Track::Flow(flow as u32);
        let before = std::mem::replace(&mut it.now, now);
        if before.state != now.state {
            if let Some(state) = before.state {
                self.writer.slice(track, state, (it.since, at), |_| ());
            }
            it.since = at;
        }
        if now.timeouts > before.timeouts {
            self.writer
                .mark(track, "retransmission timeout", at, |all| {
                    all.number("timeouts", now.timeouts);
                });
        }
        if now.retransmitted > before.retransmitted {
            self.writer.mark(track, "sent again", at, |all| {
                all.number("segments", now.retransmitted - before.retransmitted);
                all.number("in all", now.retransmitted);
            });
        }
        let (from, until) = self.times.window;
        let close = (from..until).contains(&at);
        let srtt = now.srtt.map(|time| time / 1_000);
        let values = [now.window, now.in_flight, srtt, now.rate];
        for ((name, last), value) in it.numbers.iter_mut().zip(values) {
            let Some(value) = value else { continue };
            let due = |(then, old): (u64, u64)| {
                old != value && (close || at - then >= self.times.spacing)
            };
            if last.is_none_or(due) {
                *last = Some((at, value));
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                self.writer.counter(TrackGroup::Flows, name, at, value);
            }
        }
    }

    /// Records the loss of a flow's packet, before or on the line with this name.
    pub fn packet_lost(&mut self, at: u64, flow: usize, line: &str, why: &str) {
        let track = Track::Flow(flow as u32);
        self.writer.mark(track, "packet lost", at, |all| {
            all.text("at", line);
            all.text("why", why);
        });
    }

    /// Records the number of bytes that wait before a line.
    pub fn queue(&mut self, at: u64, line: usize, name: &str, bytes: u64) {
        if self.queues.len() <= line {
            self.queues.resize(line + 1, None);
        }
        if self.queues[line] != Some(bytes) {
            self.queues[line] = Some(bytes);
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let name = format!("{name}: queue, bytes");
            self.writer.counter(TrackGroup::Links, &name, at, bytes);
        }
    }

    /// Collects the output of the chips. Call it only when all of them have reached times
    /// determined by the simulation, so that the order of events in the file is reproducible.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn gather(&mut self) -> io::Result<()> {
        let out = self.writer.handed_on();
        for router in &self.routers {
            let mut recorder = router.recorder();
            let text = recorder.handed_on();
            out.write_all(text)?;
            text.clear();
        }
        Ok(())
    }

    /// Completes the file of a run that has reached a time, with each chip at a cycle.
    ///
    /// # Errors
    /// Returns an error if the file cannot be completed.
    pub fn finish(mut self, end: u64, ends: &[Cycle]) -> io::Result<()> {
        self.gather()?;
        self.writer.cut(end.saturating_add(1));
        for (number, flow) in self.flows.iter().enumerate() {
            if let Some(state) = flow.now.state {
                let track = Track::Flow(number as u32);
                self.writer.slice(track, state, (flow.since, end), |_| ());
            }
        }
        for (router, end) in self.routers.iter().zip(ends) {
            let part = router.recorder().end(*end);
            self.writer.handed_on().write_all(&part)?;
        }
        self.writer.finish()?.commit()
    }
}
