//! Several routers in series: all packets that leave one arrive at the next.

use npsim_net::Random;
use npsim_net::order::Sequences;

use crate::net::Tick;
use crate::parameters::Parameters;
use crate::router::{CYCLE, Packet, Router, RouterOutcome};

/// Random stream of the load; those of the routers start at 1.
const LOAD: u64 = 0;
/// Cycles per microsecond.
const MHZ: u64 = 600;

/// The results of a chain of routers.
#[derive(Clone, Debug)]
pub struct ChainOutcome {
    /// Order of the packets that left the last router in the window; a flow is identified by its index
    /// among the concurrent flows and by the number of earlier flows with that index.
    pub order: Sequences<(u32, u32)>,
    /// Packets offered.
    pub offered: u64,
    /// Packets lost because a router had no room.
    pub lost: u64,
    /// Packets that left the last router, in total.
    pub left: u64,
    /// Packets that left it in the window.
    pub counted: u64,
    /// Length of the window in ticks.
    pub window: Tick,
    /// Share of the time in which the DRAM of the last router was busy.
    pub dram_busy: f64,
    /// Bytes per packet.
    bytes: u64,
}

impl ChainOutcome {
    /// Returns the throughput of the last router in the window, in Gb/s of packets.
    #[must_use]
    pub fn gbps(&self) -> f64 {
        let cycles = self.window as f64 / CYCLE as f64;
        (self.counted * self.bytes * 8) as f64 * MHZ as f64 / 1000.0 / cycles
    }

    /// Returns the rate in millions of packets per second.
    #[must_use]
    pub fn mpps(&self) -> f64 {
        self.counted as f64 * MHZ as f64 * CYCLE as f64 / self.window as f64
    }
}

/// Returns the packets of the load: evenly spaced, flows in random order.
fn load(p: &Parameters) -> Vec<(Tick, Packet)> {
    let mut random = Random::new(p.seed, LOAD);
    let mut sent = vec![0_u64; p.flows as usize];
    (0..p.packets)
        .map(|number| {
            let at = number * p.bytes * 8 * MHZ * CYCLE / p.offered_mbps;
            let place = random.below(p.flows);
            let before = &mut sent[place as usize];
            let flow = place + p.flows * (*before / p.flow_packets);
            let sequence = *before % p.flow_packets;
            *before += 1;
            let packet = Packet {
                flow: flow as u32,
                sequence,
            };
            (at, packet)
        })
        .collect()
}

/// Runs `hops` routers in series. The window extends from the arrival of the warm-up's last packet at the
/// first router to the arrival of the very last packet there.
///
/// # Errors
/// Returns a message if the parameters are inconsistent.
pub fn run(p: &Parameters, hops: usize) -> Result<ChainOutcome, String> {
    let outcome = run_while(p, hops, &|| true)?;
    outcome.ok_or_else(|| "the run was stopped".to_owned())
}

/// Runs routers like [`run`] while `go_on`, which is called many times a second, returns true; `None` if
/// it was stopped.
///
/// # Errors
/// See [`run`].
pub fn run_while(
    p: &Parameters,
    hops: usize,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<ChainOutcome>, String> {
    p.check()?;
    let mut packets = load(p);
    let offered = packets.len() as u64;
    let moment = |number: u64| packets.get(number as usize).map_or(0, |(at, _)| *at);
    let (from, until) = (moment(p.warm_up), moment(p.packets - 1));
    let mut lost = 0;
    let mut dram_busy = 0.0;
    for hop in 1..=hops.max(1) {
        let Some(passed): Option<RouterOutcome> =
            Router::new(p, hop as u64).run_while(&packets, go_on)
        else {
            return Ok(None);
        };
        lost += passed.lost;
        dram_busy = passed.dram_busy as f64 / passed.end.max(1) as f64;
        packets = passed.left;
    }
    let mut order = Sequences::counted();
    let first = packets.partition_point(|(at, _)| *at <= from);
    let after = packets.partition_point(|(at, _)| *at <= until).max(first);
    for (number, (_, packet)) in packets[..after].iter().enumerate() {
        if number == first {
            order.start_counting();
        }
        let (place, time) = (packet.flow % p.flows as u32, packet.flow / p.flows as u32);
        order.note((place, time), packet.sequence);
    }
    Ok(Some(ChainOutcome {
        order,
        offered,
        lost,
        left: packets.len() as u64,
        counted: (after - first) as u64,
        window: (until - from).max(1),
        dram_busy,
        bytes: p.bytes,
    }))
}
