//! Observations for analysing a chip's bottleneck since the previous analysis.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::{Batch, Observer};
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_observe::flow::TrafficFlow;
use npsim_observe::sections::SerialSections;
use npsim_observe::series::{Sample, Series};
use npsim_project::Project;

/// The number of samples kept.
const KEPT: usize = 512;

/// The observers of a part of a run.
#[derive(Debug)]
pub struct ChipWatch {
    /// Counters and depths over time.
    pub series: Series,
    /// The flow of traffic: the sources and destinations of each microengine.
    pub flow: TrafficFlow,
    /// The sections that only one context at a time executed.
    pub sections: SerialSections,
}

impl ChipWatch {
    /// Starts to observe.
    pub(crate) fn begin(project: &Project, chip: &Chip) -> Self {
        // The minimum interval; a run does not stop for a sample.
        let interval = project.capacity.hertz / 100;
        let places = Series::new(project).places().to_vec();
        let mut series = Series::with(places, interval, KEPT);
        // An analysis treats the first sample as the end of a run's first interval, so the second
        // one is the start of this part.
        series.sample(chip);
        series.sample(chip);
        Self {
            series,
            flow: TrafficFlow::over(&project.spaces),
            sections: SerialSections::new(chip),
        }
    }

    /// Frames that began to arrive since the start.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let samples = self.series.samples();
        let came = |sample: Option<&Sample>| sample.map_or(0, |sample| sample.frames().0);
        came(samples.last()) - came(samples.first())
    }
}

impl Observer for ChipWatch {
    fn wants(&self) -> EventKinds {
        self.flow.wants().and(self.sections.wants())
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.flow.see(at, event);
        self.sections.see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.flow.needs_order() || self.sections.needs_order()
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.flow.visit_state(at, state) && self.sections.visit_state(at, state)
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        self.flow.see_batch(events);
        self.sections.see_batch(events);
    }
}

impl Sampler for ChipWatch {
    fn due(&self) -> Cycle {
        self.series.due()
    }

    fn sample(&mut self, chip: &Chip) {
        self.series.sample(chip);
    }
}
