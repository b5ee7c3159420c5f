//! Due times of packets, computed independently: in 64 bits, without slots or turns.

use std::collections::HashMap;

use npsim_chip::Cycle;

use super::bench::{Bench, STEP, Traffic};

/// Steps that may pass between the microcode's read of the clock and the command that reveals it.
const CLOCK: u64 = 1;
/// Steps of a slot.
pub const SLOT: u64 = 64;
/// Steps of 2 us.
pub const SLACK: u64 = 75;

/// Flows with their gaps in 2^-8 steps.
#[derive(Default)]
pub struct Model {
    /// When each flow's next packet is due, in 2^-8 steps.
    next: HashMap<u32, u64>,
}

impl Model {
    /// The step in which a packet of a flow that is processed in step `now` is due.
    pub fn due(&mut self, flow: u32, gap: u64, now: u64) -> u64 {
        let next = self.next.entry(flow).or_default();
        if *next >> 8 < now {
            *next = now << 8;
        }
        let due = *next >> 8;
        *next += gap;
        due
    }
}

/// Observations of a run, by packet in the order of arrival.
pub struct Run {
    /// Flow and due step of each packet.
    pub due: Vec<(u32, u64)>,
    /// Steps by which each was handed to the transmit stage after it was due.
    pub late: Vec<u64>,
    /// Steps by which the first bit of each was on the line after it was due.
    pub line: Vec<u64>,
}

/// Compares a run in which every packet left by one port with the model: each packet leaves after it is due, and
/// packets of a flow leave in order. `gap` is the gap of a flow after its nth packet, from 0.
pub fn check(bench: &Bench, traffic: &Traffic, gap: impl Fn(u32, u64) -> u64) -> Run {
    let seen = &bench.seen;
    let packets = seen.paced.len();
    assert_eq!(seen.released.len(), packets, "released");
    assert_eq!(traffic.left.len(), packets, "left");
    let mut model = Model::default();
    let mut count: HashMap<u32, u64> = HashMap::new();
    let paced = seen.paced.iter().map(|&(flow, at)| {
        let nth = count.entry(flow).or_default();
        let gap = gap(flow, *nth);
        *nth += 1;
        (flow, model.due(flow, gap, at / STEP))
    });
    let due: Vec<(u32, u64)> = paced.collect();
    let (mut late, mut line) = (vec![0; packets], vec![0; packets]);
    let mut last: HashMap<u32, u64> = HashMap::new();
    for (left, released) in traffic.left.iter().zip(&seen.released) {
        let &(frame, _, start, ref bytes) = left;
        let (flow, due) = due[frame as usize];
        if let Some(before) = last.insert(flow, frame) {
            assert!(before < frame, "flow {flow}: {before} after {frame}");
        }
        if bytes[23] == 17 {
            let port = u16::from_be_bytes([bytes[34], bytes[35]]);
            let number = u32::from(port - super::bench::FIRST_PORT) + 1;
            assert_eq!(number, flow, "frame {frame}");
        }
        let after = |at: Cycle| {
            let at = at / STEP + CLOCK;
            assert!(at >= due, "frame {frame} left {} steps early", due - at);
            at - due
        };
        late[frame as usize] = after(*released);
        line[frame as usize] = after(start);
    }
    Run { due, late, line }
}

/// Median, 99th percentile and maximum.
pub fn spread(values: &[u64]) -> [u64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = |permille: usize| sorted[(sorted.len() - 1) * permille / 1000];
    [at(500), at(990), at(1000)]
}
