//! The events of the last cycles.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_observe::lanes::{ContextLanes, ContextRecorder};
use serde::Serialize;

use crate::debugger::Debugger;

/// The fate of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// The packet is in the chip or on its way in.
    Inside,
    /// The packet has left through a port.
    Left {
        /// The port.
        port: u8,
        /// The cycle of its last bit.
        at: Cycle,
    },
    /// The packet was lost at the media interface.
    Lost {
        /// The reason in words.
        reason: String,
        /// The cycle of the loss.
        at: Cycle,
    },
}

/// A packet that arrived, left or was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketRecord {
    /// Port, bytes and first bit, if it arrived in these cycles.
    pub came: Option<(u8, u32, Cycle)>,
    /// The packet's fate.
    pub fate: Fate,
}

/// The last cycles of a run.
#[derive(Clone, Debug)]
pub struct History {
    /// The activity of each context.
    pub lanes: ContextLanes,
    /// Packets that arrived, left or were lost, by number.
    pub packets: BTreeMap<u64, PacketRecord>,
}

struct HistoryRecorder {
    lanes: ContextRecorder,
    packets: BTreeMap<u64, PacketRecord>,
    until: Cycle,
}

impl History {
    /// The history from the cycle `from` to the debugger's position; these cycles are run once
    /// more.
    #[must_use]
    pub fn of(debugger: &Debugger, from: Cycle) -> Self {
        let until = debugger.cycle();
        let recorder = debugger.timeline().replay(from, |chip| HistoryRecorder {
            lanes: ContextRecorder::with_history(chip, until.saturating_sub(from)),
            packets: BTreeMap::new(),
            until,
        });
        Self {
            lanes: recorder.lanes.snapshot(from, until),
            packets: recorder.packets,
        }
    }
}

impl HistoryRecorder {
    fn packet(&mut self, frame: u64) -> &mut PacketRecord {
        self.packets.entry(frame).or_insert(PacketRecord {
            came: None,
            fate: Fate::Inside,
        })
    }
}

impl Sampler for HistoryRecorder {}

impl Observer for HistoryRecorder {
    fn wants(&self) -> EventKinds {
        let packets = EventKinds::of(&[
            TraceEventKind::Arrives,
            TraceEventKind::Departed,
            TraceEventKind::Dropped,
        ]);
        self.lanes.wants().and(packets)
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.lanes.see(at, event);
        // Microengines run ahead, so their trace events may lie beyond the end.
        if at >= self.until {
            return;
        }
        match *event {
            TraceEvent::Arrives {
                port, frame, bytes, ..
            } => self.packet(frame).came = Some((port, bytes, at)),
            TraceEvent::Departed {
                port,
                frame: Some(frame),
                ..
            } => self.packet(frame).fate = Fate::Left { port, at },
            TraceEvent::Dropped {
                frame: Some(frame),
                reason,
                ..
            } => {
                let reason = reason.text().to_owned();
                self.packet(frame).fate = Fate::Lost { reason, at };
            }
            _ => {}
        }
    }
}
