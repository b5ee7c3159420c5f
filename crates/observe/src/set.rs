//! The choice of observers for a run as plain data, and the observers created
//! from it: the same for a command, a study and a program of one's own.

use std::io;
use std::path::PathBuf;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::{Batch, Observer};
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_project::Project;
use npsim_project::problem::Problem;

use crate::flow::TrafficFlow;
use crate::lanes::{CapturePoints, ContextRecorder};
use crate::packets::{CsvRows, Flows, PacketEvent, PacketFollower, PacketFollowers, PacketRows};
use crate::profile::{Collector, Profile};
use crate::races::{Race, RaceDetector};
use crate::sections::SerialSections;
use crate::series::Series;
use crate::timeline::{Recorder, TimeWindow};
use npsim_project::atomic_file::AtomicFile;

/// What to observe.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether one independent thing is wanted"
)]
pub struct ObserverConfig {
    /// Where the cycles go.
    pub profile: bool,
    /// What happens when, in a window of the run, written to a file as the run proceeds.
    pub timeline: Option<(PathBuf, TimeWindow)>,
    /// Counters and depths over time.
    pub series: bool,
    /// The flow of work between microengines.
    pub flow: bool,
    /// The activity of every context at the moments of interest, which the series finds.
    pub lanes: bool,
    /// Memory that two contexts update without synchronisation.
    pub races: bool,
    /// The packet table, written to a file as the run proceeds; `-` is the
    /// standard output. Flow and order are only included for frames whose flow
    /// is announced.
    pub packets: Option<(PathBuf, Flows)>,
    /// The packets to follow, by number.
    pub follow: Vec<u64>,
}

impl ObserverConfig {
    /// Adds what a report page and a verdict on the bottleneck need.
    #[must_use]
    pub fn and_report(self) -> Self {
        Self {
            series: true,
            flow: true,
            lanes: true,
            ..self
        }
    }

    /// Creates the observers, for a chip whose run begins or continues.
    ///
    /// # Errors
    /// Returns an error if an output file cannot be written.
    pub fn open(&self, project: &Project, chip: &Chip) -> Result<ObserverSet, Problem> {
        let timeline = match &self.timeline {
            Some((path, window)) => {
                let file =
                    AtomicFile::create(path).map_err(|error| Problem::io("write", path, &error))?;
                let window = window.cycles(project.capacity.hertz);
                let recorder = Recorder::new(file, &project.name, chip, window);
                Some(recorder.with_ring_names(Series::new(project).places()))
            }
            None => None,
        };
        Ok(ObserverSet {
            profile: self.profile.then(|| Collector::new(chip)),
            timeline,
            series: (self.series || self.lanes).then(|| Series::new(project)),
            flow: self.flow.then(|| TrafficFlow::over(&project.spaces)),
            sections: self.flow.then(|| SerialSections::new(chip)),
            lanes: self.lanes.then(|| ContextRecorder::new(chip)),
            races: self.races.then(|| RaceDetector::new(chip)),
            packets: match &self.packets {
                Some((path, flows)) => {
                    let out = AtomicFile::create(path);
                    let out = out.map_err(|error| Problem::io("write", path, &error))?;
                    Some(PacketRows::new(CsvRows::new(out), chip, flows.clone()))
                }
                None => None,
            },
            follow: PacketFollowers::of(
                { self.follow.iter() }
                    .map(|number| PacketFollower::new(chip, *number, Series::new(project).places()))
                    .collect(),
            ),
        })
    }
}

/// The observers of a run. Without any, the run is not observed and there is no
/// overhead.
#[derive(Debug, Default)]
pub struct ObserverSet {
    profile: Option<Collector>,
    timeline: Option<Recorder<AtomicFile>>,
    series: Option<Series>,
    flow: Option<TrafficFlow>,
    sections: Option<SerialSections>,
    lanes: Option<ContextRecorder>,
    races: Option<RaceDetector>,
    packets: Option<PacketRows<CsvRows<AtomicFile>>>,
    follow: Option<PacketFollowers>,
}

/// A packet that was followed.
#[derive(Debug)]
pub struct FollowedPacket {
    /// The number.
    pub number: u64,
    /// Number of packets that arrived in total.
    pub arrival_count: u64,
    /// Its events; none if it did not arrive.
    pub events: Vec<PacketEvent>,
}

/// The observations of a run that is over.
#[derive(Debug, Default)]
pub struct Observations {
    /// Where the cycles went.
    pub profile: Option<Profile>,
    /// Counters and depths over time.
    pub series: Option<Series>,
    /// The flow of work between microengines.
    pub flow: Option<TrafficFlow>,
    /// The critical sections.
    pub sections: Option<SerialSections>,
    /// The moments of interest.
    pub moments: Option<CapturePoints>,
    /// Races, in the order of their first occurrence.
    pub races: Option<Vec<Race>>,
    /// Whether the timeline was completely written, if one was requested.
    pub timeline: Option<io::Result<()>>,
    /// Whether the packet table was completely written, if one was requested.
    pub packets: Option<io::Result<()>>,
    /// The packets that were followed.
    pub followed: Vec<FollowedPacket>,
}

impl ObserverSet {
    /// Returns the observations at the end of the run; the output files get
    /// their final names.
    #[must_use]
    pub fn finish(self, chip: &Chip) -> Observations {
        let end = chip.now();
        let written =
            |recorder: Recorder<AtomicFile>| recorder.finish(end).and_then(AtomicFile::commit);
        Observations {
            timeline: self.timeline.map(written),
            packets: { self.packets }.map(|rows| rows.finish().and_then(AtomicFile::commit)),
            followed: { self.follow.into_iter() }
                .flat_map(PacketFollowers::into_followers)
                .map(|it| FollowedPacket {
                    number: it.number(),
                    arrival_count: it.arrival_count(),
                    events: it.finish(),
                })
                .collect(),
            profile: self.profile.map(|collector| collector.finish(end)),
            series: self.series.map(|mut series| {
                series.end(chip);
                series
            }),
            flow: self.flow,
            sections: self.sections,
            moments: self.lanes.map(|lanes| lanes.finish(end)),
            races: self.races.map(RaceDetector::finish),
        }
    }
}

impl ObserverSet {
    /// The observers of trace events; series are sampled instead.
    fn observers(&self) -> [&dyn Observer; 8] {
        let Self {
            profile,
            timeline,
            flow,
            sections,
            lanes,
            races,
            packets,
            follow,
            series: _,
        } = self;
        [
            profile, timeline, flow, sections, lanes, races, packets, follow,
        ]
    }
}

impl Observer for ObserverSet {
    fn wants(&self) -> EventKinds {
        let [first, rest @ ..] = self.observers();
        rest.iter()
            .fold(first.wants(), |all, it| all.and(it.wants()))
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.profile.see(at, event);
        self.timeline.see(at, event);
        self.flow.see(at, event);
        self.sections.see(at, event);
        self.lanes.see(at, event);
        self.races.see(at, event);
        self.packets.see(at, event);
        self.follow.see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.observers().iter().any(|it| it.needs_order())
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.profile.visit_state(at, state)
            && self.timeline.visit_state(at, state)
            && self.flow.visit_state(at, state)
            && self.sections.visit_state(at, state)
            && self.lanes.visit_state(at, state)
            && self.races.visit_state(at, state)
            && self.packets.visit_state(at, state)
            && self.follow.visit_state(at, state)
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        self.profile.see_batch(events);
        self.timeline.see_batch(events);
        self.flow.see_batch(events);
        self.sections.see_batch(events);
        self.lanes.see_batch(events);
        self.races.see_batch(events);
        self.packets.see_batch(events);
        self.follow.see_batch(events);
    }
}

impl Sampler for ObserverSet {
    fn due(&self) -> Cycle {
        self.series.due()
    }

    fn sample(&mut self, chip: &Chip) {
        let Some(series) = &mut self.series else {
            return;
        };
        series.sample(chip);
        if let (Some(lanes), Some(sample)) = (&mut self.lanes, series.samples().last()) {
            lanes.consider(sample, series.places());
        }
    }
}
