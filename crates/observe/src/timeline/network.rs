//! The timeline of a network of hosts: what the senders of flows do over the whole run, and below
//! them all of each chip, in a window.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::{Batch, Observer};
use npsim_chip::kernel::trace_event::{Kinds, TraceEvent};
use npsim_project::Project;

use super::recorder::Recorder;
use super::tracks::{Track, TrackGroup};
use super::writer::{ChipPart, Titles, Writer};
use crate::series::Series;
use npsim_project::whole_file::WholeFile;

/// Picoseconds in a second: the times of a network are as cycles of such a clock.
const PICOSECONDS: u64 = 1_000_000_000_000;
/// From the groups of one chip to those of the next.
const APART: u32 = 100;

/// What part of a run is shown, in picoseconds of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkTimes {
    /// From when until when the chips are shown; flows are over the whole run.
    pub window: (u64, u64),
    /// The shortest time between two values of a number outside the window.
    pub spacing: u64,
}

/// The sender of a flow, as it shows itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderNow {
    /// The sender's state, if the connection is open.
    pub state: Option<&'static str>,
    /// Congestion window in bytes.
    pub window: Option<u64>,
    /// What is thought to be in the network, bytes.
    pub in_flight: Option<u64>,
    /// Smoothed round-trip time in picoseconds.
    pub srtt: Option<u64>,
    /// Rate in bytes of IP per second.
    pub rate: Option<u64>,
    /// Segments that were sent again, so far.
    pub retransmitted: u64,
    /// Expiries of the retransmission timer, so far.
    pub timeouts: u64,
}

/// What is known of a flow.
#[derive(Debug)]
struct FlowTrack {
    now: SenderNow,
    /// Since when it has its state.
    since: u64,
    /// The names of its numbers, and each as it was written last: when and what.
    numbers: [(String, Option<(u64, u64)>); 4],
}

/// A text that is taken away bit by bit.
type Text = Vec<u8>;

/// The part of a timeline that is of one chip. Clones are the same.
#[derive(Clone, Debug)]
pub struct RouterObserver(Arc<Mutex<Recorder<Text>>>);

impl RouterObserver {
    fn recorder(&self) -> MutexGuard<'_, Recorder<Text>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for RouterObserver {
    fn wants(&self) -> Kinds {
        self.recorder().wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.recorder().see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.recorder().needs_order()
    }

    fn see_all(&mut self, events: &Batch<'_>) {
        self.recorder().see_all(events);
    }
}

/// Writes the timeline of a network.
#[derive(Debug)]
pub struct NetworkTimeline {
    writer: Writer<WholeFile>,
    times: NetworkTimes,
    flows: Vec<FlowTrack>,
    routers: Vec<RouterObserver>,
    /// How long each queue was when that was written last.
    queues: Vec<Option<u64>>,
}

impl NetworkTimeline {
    /// A timeline of a network of this name and of flows of these.
    #[must_use]
    pub fn new(file: WholeFile, name: &str, flows: &[String], times: NetworkTimes) -> Self {
        let titles = Titles {
            flows: flows.to_vec(),
            ..Titles::default()
        };
        let mut writer = Writer::new(file, name, PICOSECONDS, (0, u64::MAX), titles);
        // The texts of chips go on behind an event.
        writer.begin_group(TrackGroup::Flows);
        let flow = |name: &String| FlowTrack {
            now: SenderNow::default(),
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

    /// An observer for the next one of the network's chips, which has not run yet.
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
            .calling(Series::new(project).places());
        let observer = RouterObserver(Arc::new(Mutex::new(recorder)));
        self.routers.push(observer.clone());
        observer
    }

    /// The sender of a flow has done something.
    pub fn sender(&mut self, at: u64, flow: usize, now: SenderNow) {
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

    /// A packet of a flow is gone, before or on the line of this name.
    pub fn gone(&mut self, at: u64, flow: usize, line: &str, why: &str) {
        let track = Track::Flow(flow as u32);
        self.writer.mark(track, "packet lost", at, |all| {
            all.text("at", line);
            all.text("why", why);
        });
    }

    /// How many bytes wait before a line.
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

    /// Takes what the chips have made. It is called where all stand at times that follow from what is
    /// simulated, so that the file has the same order of events each time.
    ///
    /// # Errors
    /// The file cannot be written.
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

    /// Completes the file of a run that has come to a time, and each chip to a cycle.
    ///
    /// # Errors
    /// The file cannot be written to its end.
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
