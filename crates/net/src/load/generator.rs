//! Generates the frames of a load one by one.

use super::clock::{DueTime, LineClock, LineCost, SECOND_PS, whole_nanoseconds};
use super::kind::FrameKind;
use super::packet::Template;
use super::packet::length_of;
use super::special::KindTable;
use super::stamp::Stamp;
use super::turns::{FlowTurn, FlowTurns};
use super::{Amount, Arrivals, Load, LoadError, LoadPort, LoadRate, Sizes};
use crate::LineFrame;
use crate::ethernet::{FCS_BYTES, line_bytes};
use crate::random::{EXPONENTIAL_BITS, Random};

/// The fastest line of a load, in bits a second.
const FASTEST: u64 = 1 << 40;
/// Fraction bits of mean sizes and mean times.
const MEAN_BITS: u32 = 16;
/// First random stream for drawing flows, one per port, so that the choice of flows does not affect sizes
/// and times.
const FLOW_STREAM: u64 = 1 << 32;

/// The frames of a load, in order of arrival. Memory use is constant.
#[derive(Clone, Debug)]
pub struct Generator {
    ports: Vec<PortGenerator>,
    flow_slots: u32,
}

impl Generator {
    /// Creates the traffic for the given ports.
    ///
    /// The first frame of the first port that has traffic arrives at time 0; the other ports start later
    /// by fractions of the time between two frames, so that they are not in phase.
    ///
    /// # Errors
    /// Returns an error if the load has no rate, asks for more than a line carries, or does not fit the
    /// ports.
    pub fn new(load: &Load, ports: &[LoadPort]) -> Result<Self, LoadError> {
        check(load, ports)?;
        let kind_table = load
            .special
            .kind_table()
            .ok_or(LoadError::SharesExceedOne)?;
        let demands = demands(load, ports)?;
        let used: Vec<usize> = (0..ports.len())
            .filter(|&port| demands[port].is_some())
            .collect();
        if used.is_empty() {
            return Err(LoadError::NoTraffic);
        }
        let mean_bits = mean_line_bits(&load.size, &kind_table, load.special.option.bytes().len());
        let destinations = if load.destinations.is_empty() {
            Load::default_destinations()
        } else {
            load.destinations.clone()
        };
        let stride = used.len() as u32;
        let flow_slots = load.flows.max(stride);
        let mut generators = Vec::new();
        for (place, &port) in (0u32..).zip(&used) {
            let Some(demand) = demands[port] else {
                continue;
            };
            let LoadPort {
                bits_per_second,
                mac,
            } = ports[port];
            let interval = demand.interval(mean_bits);
            if !fits(interval, mean_bits, bits_per_second) {
                return Err(LoadError::ExceedsLineRate {
                    port,
                    bits_per_second,
                    most: ((u128::from(bits_per_second) << MEAN_BITS) / u128::from(mean_bits))
                        as u64,
                });
            }
            let mut random = Random::new(load.seed, port as u64);
            let step = match load.arrivals {
                Arrivals::Bursts => interval.saturating_mul(u128::from(load.burst)),
                _ => interval,
            };
            let offset = match load.arrivals {
                Arrivals::Poisson if place > 0 => exponential(&mut random, interval),
                Arrivals::Poisson => 0,
                _ => load.phase.offset(step, place, stride, load.seed),
            };
            let offset_ps = u64::try_from(offset >> MEAN_BITS).unwrap_or(u64::MAX);
            let pacing = match load.arrivals {
                Arrivals::Poisson => Pacing::Poisson {
                    at: u128::from(offset_ps) << MEAN_BITS,
                    interval,
                },
                Arrivals::Constant => Pacing::Exact {
                    due: DueTime::new(demand.cost, whole_nanoseconds(offset_ps)),
                    of_frames: demand.of_frames,
                },
                Arrivals::Bursts => Pacing::Bursts {
                    due: DueTime::new(demand.cost, whole_nanoseconds(offset_ps)),
                    of_frames: demand.of_frames,
                    // A burst ends after a frame if a random 64-bit number is below this.
                    ends_below: u64::MAX / u64::from(load.burst),
                    inside: false,
                },
            };
            let mut generator = PortGenerator {
                port: port as u8,
                template: Template::new(load, &destinations, port as u8, mac),
                line: LineClock::new(bits_per_second),
                pacing,
                random,
                sizes: load.size.clone(),
                weight: load.size.weight(),
                kind_table: kind_table.clone(),
                option: load.special.option.bytes().len(),
                turns: FlowTurns::new(
                    load.interleave,
                    flows_of(load.flows, place, stride),
                    load.flow_packets,
                    Random::new(load.seed, FLOW_STREAM | port as u64),
                ),
                first_flow: place,
                stride,
                flow_slots,
                until_ps: load.time.picoseconds(),
                next: None,
            };
            generator.draw();
            generators.push(generator);
        }
        Ok(Self {
            ports: generators,
            flow_slots,
        })
    }

    /// Returns the number of concurrent flows. A flow that replaces another one has a number that is
    /// larger by this.
    #[must_use]
    pub const fn flow_slots(&self) -> u32 {
        self.flow_slots
    }
}

impl Iterator for Generator {
    type Item = LineFrame;

    fn next(&mut self) -> Option<LineFrame> {
        let mut first = None;
        let mut earliest = u64::MAX;
        for port in &mut self.ports {
            // Of two frames that begin at the same time, the one of the lower port comes first.
            if let Some(next) = &port.next
                && (next.start_ps < earliest || first.is_none())
            {
                earliest = next.start_ps;
                first = Some(port);
            }
        }
        first?.take()
    }
}

/// Returns how many of the flows belong to the port at this place.
fn flows_of(flows: u32, place: u32, ports: u32) -> u64 {
    u64::from(flows.saturating_sub(place).div_ceil(ports)).max(1)
}

fn check(load: &Load, ports: &[LoadPort]) -> Result<(), LoadError> {
    let range = |what, given: u64, range, allowed: bool| {
        if allowed {
            Ok(())
        } else {
            Err(LoadError::Range { what, given, range })
        }
    };
    if ports.is_empty() {
        return Err(LoadError::NoPorts);
    }
    if ports.len() > 256 {
        return Err(LoadError::TooManyPorts(ports.len()));
    }
    for (port, line) in ports.iter().enumerate() {
        let bits_per_second = line.bits_per_second;
        if !(1..=FASTEST).contains(&bits_per_second) {
            return Err(LoadError::Line {
                port,
                bits_per_second,
            });
        }
    }
    range("burst", load.burst.into(), "1 or more", load.burst > 0)?;
    range("ttl", load.ttl.into(), "2 to 255", load.ttl > 1)?;
    range(
        "flows",
        load.flows.into(),
        "1 to 16777216",
        (1..=Load::MAX_FLOWS).contains(&load.flows),
    )?;
    let listed = match &load.rate {
        Some(LoadRate::PerPort(amounts)) => amounts.len(),
        _ => 0,
    };
    for (what, given) in [("rate", listed), ("spread", load.spread.len())] {
        if given > ports.len() {
            return Err(LoadError::TooManyEntries {
                what,
                given,
                ports: ports.len(),
            });
        }
    }
    Ok(())
}

/// The demand on one port.
#[derive(Clone, Copy, Debug)]
struct Demand {
    /// Time of a frame or of a bit of line time.
    cost: LineCost,
    of_frames: bool,
}

impl Demand {
    /// Returns the mean time between two frames, in 1/2^16 ps, for frames with a mean of `mean_bits`/2^16
    /// bits of line time.
    fn interval(self, mean_bits: u64) -> u128 {
        self.cost.of(if self.of_frames {
            1 << MEAN_BITS
        } else {
            mean_bits
        })
    }
}

/// Whether a line can carry frames of this mean length at this mean interval. Both means are rounded, so a
/// line that is exactly full passes.
fn fits(interval: u128, mean_bits: u64, bits_per_second: u64) -> bool {
    let busy = u128::from(mean_bits) * u128::from(SECOND_PS) / u128::from(bits_per_second);
    interval + (busy >> 30) + 1 >= busy
}

fn demands(load: &Load, ports: &[LoadPort]) -> Result<Vec<Option<Demand>>, LoadError> {
    let whole = u128::from(SECOND_PS);
    let amounts: Vec<Option<(Amount, u128, u128)>> =
        match load.rate.as_ref().ok_or(LoadError::NoRate)? {
            // Each amount comes with the port's fraction of it.
            LoadRate::PerPort(amounts) => {
                let given = amounts
                    .iter()
                    .map(|amount| amount.map(|amount| (amount, 1, 1)));
                given
                    .chain(std::iter::repeat(None))
                    .take(ports.len())
                    .collect()
            }
            LoadRate::Total(amount) => {
                let weight = |port: usize| match load.spread.as_slice() {
                    [] => u128::from(ports[port].bits_per_second),
                    spread => u128::from(spread.get(port).copied().unwrap_or(0)),
                };
                let sum: u128 = (0..ports.len()).map(weight).sum();
                let part = |port| (weight(port) > 0).then(|| (*amount, weight(port), sum));
                (0..ports.len()).map(part).collect()
            }
        };
    let lines: u128 = ports
        .iter()
        .map(|port| u128::from(port.bits_per_second))
        .sum();
    let total = matches!(load.rate, Some(LoadRate::Total(_)));
    let mut demands = Vec::new();
    for (port, amount) in amounts.into_iter().enumerate() {
        let Some((amount, part, of)) = amount else {
            demands.push(None);
            continue;
        };
        let (ratio, of_frames, lines) = match amount {
            Amount::Packets(ratio) => (ratio, true, 1),
            Amount::Bits(ratio) => (ratio, false, 1),
            Amount::Line(ratio) if total => (ratio, false, lines),
            Amount::Line(ratio) => (ratio, false, u128::from(ports[port].bits_per_second)),
        };
        // At most 2^40 * 2^40 * 2^48 and 2^40 * 2^48 * 2^40.
        let numerator = u128::from(ratio.denominator())
            .checked_mul(of)
            .and_then(|product| product.checked_mul(whole));
        let denominator = u128::from(ratio.numerator())
            .checked_mul(lines)
            .and_then(|product| product.checked_mul(part));
        let cost = numerator
            .zip(denominator)
            .and_then(|(n, d)| LineCost::new(n, d));
        let cost = cost.ok_or(LoadError::TooPrecise { port })?;
        demands.push(Some(Demand { cost, of_frames }));
    }
    Ok(demands)
}

/// Returns the mean line time of the frames, in 1/2^16 bits.
fn mean_line_bits(sizes: &Sizes, kind_table: &KindTable, option: usize) -> u64 {
    let weight = u128::from(sizes.weight());
    let of_kind = |kind: FrameKind| -> u128 {
        let all = sizes.sizes().iter().map(|size| {
            let length = length_of(kind, size.bytes - FCS_BYTES as u32, option);
            (u128::from(size.weight) * u128::from(line_bytes(length) * 8)) << MEAN_BITS
        });
        all.sum::<u128>() / weight
    };
    let parts = kind_table.parts();
    let sum: u128 = parts.iter().map(|&(part, kind)| part * of_kind(kind)).sum();
    (sum >> 64) as u64
}

/// Draws an exponentially distributed number with this mean.
fn exponential(random: &mut Random, mean: u128) -> u128 {
    // A mean of 2^70 is one frame in ten years.
    (u128::from(random.exponential()) * mean.min(1 << 70)) >> EXPONENTIAL_BITS
}

/// When the frames of a port are due.
#[derive(Clone, Debug)]
enum Pacing {
    Exact {
        due: DueTime,
        of_frames: bool,
    },
    Poisson {
        /// When the next frame reaches the line, in 1/2^16 ps.
        at: u128,
        /// Mean time between two frames, in 1/2^16 ps.
        interval: u128,
    },
    Bursts {
        due: DueTime,
        of_frames: bool,
        ends_below: u64,
        inside: bool,
    },
}

impl Pacing {
    /// Returns when the next frame, with this many bits of line time, is due, and advances to the one
    /// after it.
    fn wanted_ps(&mut self, bits: u64, random: &mut Random) -> u64 {
        let units = |of_frames: bool| if of_frames { 1 } else { bits };
        match self {
            Self::Exact { due, of_frames } => {
                let wanted = due.ps();
                due.advance(units(*of_frames));
                wanted
            }
            Self::Poisson { at, interval } => {
                let wanted = u64::try_from(*at >> MEAN_BITS).unwrap_or(u64::MAX);
                *at += exponential(random, *interval);
                whole_nanoseconds(wanted)
            }
            Self::Bursts {
                due,
                of_frames,
                ends_below,
                inside,
            } => {
                let wanted = if *inside { 0 } else { due.ps() };
                due.advance(units(*of_frames));
                *inside = random.next() >= *ends_below;
                wanted
            }
        }
    }
}

/// A planned frame, complete except for its bytes.
#[derive(Clone, Copy, Debug)]
struct Planned {
    start_ps: u64,
    end_ps: u64,
    kind: FrameKind,
    length: usize,
}

/// The frames of one port.
#[derive(Clone, Debug)]
struct PortGenerator {
    port: u8,
    template: Template,
    line: LineClock,
    pacing: Pacing,
    random: Random,
    sizes: Sizes,
    weight: u64,
    kind_table: KindTable,
    /// Bytes of the IPv4 option.
    option: usize,
    turns: FlowTurns,
    first_flow: u32,
    /// Distance from one flow of the port to its next.
    stride: u32,
    /// Distance from a flow to its replacement.
    flow_slots: u32,
    until_ps: u64,
    next: Option<Planned>,
}

impl PortGenerator {
    /// Plans the next frame.
    fn draw(&mut self) {
        let kind = if self.kind_table.is_plain() {
            FrameKind::Plain
        } else {
            self.kind_table.kind(self.random.next())
        };
        let bytes = match self.sizes.sizes() {
            [size] => size.bytes,
            _ => self.sizes.at(self.random.below(self.weight)),
        };
        let length = length_of(kind, bytes - FCS_BYTES as u32, self.option);
        let wanted_ps = self
            .pacing
            .wanted_ps(line_bytes(length) * 8, &mut self.random);
        // Checked before the line, whose times must stay below 2^64.
        if wanted_ps >= self.until_ps {
            self.next = None;
            return;
        }
        let (start_ps, end_ps) = self.line.send(wanted_ps, length);
        self.next = (start_ps < self.until_ps).then_some(Planned {
            start_ps,
            end_ps,
            kind,
            length,
        });
    }

    fn take(&mut self) -> Option<LineFrame> {
        let Planned {
            start_ps,
            end_ps,
            kind,
            length,
        } = self.next.take()?;
        let FlowTurn {
            place,
            past_flows,
            sequence,
        } = self.turns.next(kind);
        let first = self.first_flow + place as u32 * self.stride;
        let stamp = Stamp {
            kind,
            port: self.port,
            // Flow numbers wrap after 2^32 flows.
            flow: first.wrapping_add((past_flows as u32).wrapping_mul(self.flow_slots)),
            sequence,
        };
        let bytes = self.template.frame(stamp, place, length);
        self.draw();
        Some(LineFrame {
            start_ps: u128::from(start_ps),
            end_ps: u128::from(end_ps),
            port: u32::from(self.port),
            bytes,
        })
    }
}
