//! Pacing on the slow path: gaps of flows with a fixed rate are set from the start; those of flows that
//! follow SRP are computed from the microcode's counters.
//!
//! Flows are visited one after the other, each once per period. The flow's [`PacingLaw`] receives the changes
//! since the last visit in this order: a round-trip time, acknowledgements, a loss. If packets got due times
//! but nothing was acknowledged for the length of a timeout, the flow has timed out.

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::record::{FlowRecord, GAP, READ_FROM, RECORD_BYTES, gap, time_of, time_of_steps};
use super::{LawInputs, PacingLaw};
use crate::round_trip::{RoundTrip, RtoParameters};
use crate::time::Time;

/// Bytes of the IP and TCP headers without options.
const HEADERS: u64 = 40;

/// How a class of flows is paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacedBy {
    /// At a fixed rate, in bytes of IP per second.
    Fixed(u64),
    /// By the loss event rate.
    Srp {
        /// Number of segments in the first round-trip time.
        first: u64,
        /// Maximum rate, in bytes of IP per second.
        most: Option<u64>,
    },
}

/// A class of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SrpClass {
    /// The number of the class.
    pub class: u8,
    /// Bytes of IP per packet, more than the headers have; rates refer to packets of this size.
    pub packet: u64,
    /// How the class is paced.
    pub pace: PacedBy,
}

/// Configuration of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SrpSetup {
    /// The records; the record of flow n is n * 64 bytes after this address.
    pub records: LongwordAddress,
    /// The class of each flow, from number 1 on.
    pub flows: Vec<u8>,
    /// The classes that are paced; flows of other classes leave at once.
    pub classes: Vec<SrpClass>,
    /// Period in which each flow is visited once.
    pub period: Cycle,
    /// The retransmission timer.
    pub rto: RtoParameters,
}

/// The state of a flow that follows the law.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SrpFlow {
    /// Its number.
    pub number: u32,
    /// Index of its class in the setup.
    pub class: usize,
    /// The law.
    pub law: PacingLaw,
    /// The gap last written.
    pub gap: u32,
    /// Number of losses passed to the law, and of timeouts.
    pub events: u64,
    round_trip: RoundTrip,
    /// Whether the law has begun, which needs a round-trip time.
    opened: bool,
    seen: FlowRecord,
    /// Time of the last acknowledgement, and the packet count at that time.
    progress: (Time, u32),
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum SrpStep {
    Look,
    Publish,
}

/// The pacing task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SrpTask {
    setup: SrpSetup,
    mhz: u64,
    step: SrpStep,
    due: Cycle,
    /// Index of the flow of the current job.
    at: usize,
    flows: Vec<SrpFlow>,
}

impl SrpTask {
    /// Creates the task before the first cycle.
    #[must_use]
    pub fn new(setup: SrpSetup) -> Self {
        Self {
            setup,
            mhz: 1,
            step: SrpStep::Look,
            due: 0,
            at: 0,
            flows: Vec::new(),
        }
    }

    /// The flows that follow the law.
    #[must_use]
    pub fn flows(&self) -> impl ExactSizeIterator<Item = &SrpFlow> {
        self.flows.iter()
    }

    /// The configuration.
    #[must_use]
    pub const fn setup(&self) -> &SrpSetup {
        &self.setup
    }

    fn record(&self, number: u32) -> LongwordAddress {
        self.setup.records.after(number * RECORD_BYTES)
    }

    /// Cycles between two jobs.
    fn interval(&self) -> Cycle {
        (self.setup.period / self.flows.len().max(1) as Cycle).max(1)
    }

    /// Passes the changes to the flow's law; returns whether its rate may have changed.
    fn apply_counts(&mut self, counted: FlowRecord, cycle: Cycle) -> bool {
        let (mhz, classes) = (self.mhz, &self.setup.classes);
        let flow = &mut self.flows[self.at];
        flow.apply_counts(&classes[flow.class], counted, cycle, mhz)
    }
}

impl SrpFlow {
    fn new(number: u32, class: usize, of: &SrpClass, rto: RtoParameters, mhz: u64) -> Option<Self> {
        let PacedBy::Srp { first, most } = of.pace else {
            return None;
        };
        Some(Self {
            number,
            class,
            law: PacingLaw::new(first, most),
            gap: most.map_or(0, |most| gap(of.packet, most, mhz)),
            events: 0,
            round_trip: RoundTrip::new(rto),
            opened: false,
            seen: FlowRecord::default(),
            progress: (0, 0),
        })
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.round_trip.smoothed()
    }

    fn moment(&self, class: &SrpClass, now: Time) -> LawInputs {
        LawInputs {
            now,
            mss: class.packet - HEADERS,
            packet: class.packet,
            srtt: self.round_trip.smoothed(),
            timeout: self.round_trip.timeout(),
        }
    }

    fn apply_counts(
        &mut self,
        class: &SrpClass,
        counted: FlowRecord,
        cycle: Cycle,
        mhz: u64,
    ) -> bool {
        let now = time_of(cycle, mhz);
        let before = std::mem::replace(&mut self.seen, counted);
        if counted.rtts != before.rtts {
            self.round_trip.sample(time_of_steps(counted.rtt, mhz));
        }
        let acknowledged = counted.bytes.wrapping_sub(before.bytes);
        let losses = counted.losses.wrapping_sub(before.losses);
        if acknowledged > 0 {
            self.progress = (now, counted.packets);
        }
        if self.round_trip.smoothed().is_none() {
            return false;
        }
        let moment = self.moment(class, now);
        if !self.opened {
            self.opened = true;
            self.progress = (now, counted.packets);
            self.law.opened(&moment, false);
            return true;
        }
        if acknowledged > 0 {
            self.law.acknowledged(&moment, acknowledged.into());
        }
        if losses > 0 {
            self.events += 1;
            self.law.lost(&moment);
        }
        let (since, packets) = self.progress;
        let waits = counted.packets != packets && now - since >= moment.timeout;
        if waits {
            self.events += 1;
            self.progress = (now, counted.packets);
            self.law.timed_out(&moment);
            self.round_trip.back_off();
        }
        acknowledged > 0 || losses > 0 || waits
    }
}

impl Task for SrpTask {
    fn name(&self) -> &'static str {
        "srp"
    }

    /// Sets the gaps of fixed rates before the start. Other flows get the gap of their maximum rate until
    /// their first round-trip time is known.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        let mhz = start.mhz();
        self.mhz = mhz;
        let setup = self.setup.clone();
        let bytes = (setup.flows.len() as u32 + 1) * RECORD_BYTES;
        start.check(setup.records, bytes)?;
        for (number, class) in (1..).zip(&setup.flows) {
            let known = setup.classes.iter().position(|known| known.class == *class);
            let Some(at) = known else { continue };
            let of = &setup.classes[at];
            let first = match of.pace {
                PacedBy::Fixed(rate) => gap(of.packet, rate, mhz),
                PacedBy::Srp { .. } => {
                    let flow = SrpFlow::new(number, at, of, setup.rto, mhz);
                    let first = flow.as_ref().map_or(0, |flow| flow.gap);
                    self.flows.extend(flow);
                    first
                }
            };
            start.write(self.record(number).after(GAP), first);
        }
        self.due = self.interval();
        Ok((!self.flows.is_empty()).then_some(self.due))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        let (number, packet) = {
            let flow = &self.flows[self.at];
            (flow.number, self.setup.classes[flow.class].packet)
        };
        let (doing, cost, more) = match self.step {
            SrpStep::Look => {
                let (words, lasts) = access.read::<8>(self.record(number).after(READ_FROM));
                let changed = self.apply_counts(FlowRecord::of(words), now);
                let law = if changed { access.costs().law } else { 0 };
                ("look at a flow", lasts + law, changed)
            }
            SrpStep::Publish => {
                let gap = gap(packet, self.flows[self.at].law.rate(), self.mhz);
                self.flows[self.at].gap = gap;
                let lasts = access.write(self.record(number).after(GAP), &[gap]);
                ("publish a gap", lasts, false)
            }
        };
        if more {
            self.step = SrpStep::Publish;
            return (doing, NextAction::After(cost));
        }
        self.step = SrpStep::Look;
        self.at = (self.at + 1) % self.flows.len();
        self.due = next_time(self.due, self.interval(), now);
        let due = self.due;
        (doing, NextAction::Done { cost, due })
    }

    /// One row per class; rates are in bytes of IP per second.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        let classes = self.setup.classes.iter().enumerate();
        classes
            .map(|(at, class)| {
                let flows = self.setup.flows.iter().filter(|of| **of == class.class);
                let own = || self.flows.iter().filter(|flow| flow.class == at);
                let rates = || match class.pace {
                    PacedBy::Fixed(rate) => (rate, rate),
                    PacedBy::Srp { .. } => {
                        let rates = || own().map(|flow| flow.law.rate());
                        (rates().min().unwrap_or(0), rates().max().unwrap_or(0))
                    }
                };
                let (least, most) = rates();
                Row::default()
                    .with("class", u64::from(class.class))
                    .with("flows", flows.count() as u64)
                    .with("least_rate", least)
                    .with("most_rate", most)
                    .with("events", own().map(|flow| flow.events).sum::<u64>())
            })
            .collect()
    }

    fn summary(&self, memories: Memories<'_>) -> Vec<String> {
        let rows = self.rows(memories);
        let classes = self.setup.classes.iter().zip(&rows);
        classes.map(|(class, row)| class.summary(row)).collect()
    }
}
