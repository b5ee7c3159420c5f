//! Counters, and their differences between two times.

use npsim_protocols::icmp::message::{IcmpContent, IcmpError};
use npsim_stack::EndCounters;
use npsim_transport::time::{SECOND, Time};
use npsim_transport::{ReceiverCounters, SenderCounters};
use serde::{Deserialize, Serialize};

use crate::line::DropReason;
use crate::topology::{Topology, Transport};

/// A number of packets and their IP bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Tally {
    pub(crate) const fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }

    pub(crate) const fn take_back(&mut self, bytes: u64) {
        self.packets -= 1;
        self.bytes -= bytes;
    }

    const fn since(self, earlier: Self) -> Self {
        Self {
            // Packets that were presumed lost may have been found again.
            packets: self.packets.saturating_sub(earlier.packets),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

/// Counters of one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounters {
    /// Rate in bits per second.
    pub rate: u64,
    /// End of the period counted.
    pub at: Time,
    /// Length of the period counted.
    pub time: Time,
    /// Packets offered to the queue.
    pub offered: Tally,
    /// Packets dropped by the queue, by [`DropReason`].
    pub dropped: [Tally; DropReason::ALL.len()],
    /// Packets that the line began to send.
    pub sent: Tally,
    /// Packets among these that were lost on the line.
    pub lost: Tally,
    /// Time spent sending.
    pub busy: Time,
    /// Integral of the waiting bytes over time, in bytes times picoseconds.
    pub waited: u128,
    /// Most bytes waiting at once.
    pub longest: u64,
}

impl LineCounters {
    pub(crate) const fn new(rate: u64) -> Self {
        let none = Tally {
            packets: 0,
            bytes: 0,
        };
        Self {
            rate,
            at: 0,
            time: 0,
            offered: none,
            dropped: [none; DropReason::ALL.len()],
            sent: none,
            lost: none,
            busy: 0,
            waited: 0,
            longest: 0,
        }
    }

    /// Accumulates the bytes that have waited until now.
    pub(crate) fn waited(&mut self, now: Time, bytes: u64) {
        self.waited += u128::from(now - self.at) * u128::from(bytes);
        self.time += now - self.at;
        self.at = now;
    }

    fn since(&self, earlier: &Self) -> Self {
        let mut dropped = self.dropped;
        for (all, before) in dropped.iter_mut().zip(earlier.dropped) {
            *all = all.since(before);
        }
        Self {
            rate: self.rate,
            at: self.at,
            time: self.time - earlier.time,
            offered: self.offered.since(earlier.offered),
            dropped,
            sent: self.sent.since(earlier.sent),
            lost: self.lost.since(earlier.lost),
            busy: self.busy - earlier.busy,
            waited: self.waited - earlier.waited,
            longest: self.longest,
        }
    }

    /// Returns the share of the time in which the line was sending.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(self.busy.into(), self.time.into())
    }

    /// Returns the mean length of the queue in bytes, without the frame being sent.
    #[must_use]
    pub fn mean_queue(&self) -> f64 {
        ratio(self.waited, self.time.into())
    }

    /// Returns the number of packets that the queue dropped.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.dropped.iter().map(|tally| tally.packets).sum()
    }

    /// Returns the packets dropped for one reason.
    #[must_use]
    pub const fn dropped_for(&self, reason: DropReason) -> Tally {
        self.dropped[reason as usize]
    }
}

/// Counters of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowCounters {
    /// When the flow opens.
    pub start: Time,
    /// Counters of the sending end, if it is an endpoint.
    pub sender: SenderCounters,
    /// Counters of the receiving end, if it is an endpoint.
    pub receiver: ReceiverCounters,
    /// Packets sent by its hosts, in both directions.
    pub sent: Tally,
    /// Packets that reached its hosts, in both directions.
    pub arrived: Tally,
    /// Packets among these that reached the receiving host.
    pub reached: Tally,
    /// Packets dropped by queues or lost on lines.
    pub gone: Tally,
    /// Messages about its packets that reached their sender.
    pub messages: MessageCounters,
    /// Bytes of data delivered to the receiver: without a gap in a stream.
    pub delivered: u64,
}

/// Messages that reached hosts, by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageCounters {
    /// The time to live of a packet expired.
    pub time_exceeded: Tally,
    /// A destination is unreachable.
    pub unreachable: Tally,
    /// A packet was larger than the MTU of a link, and must not be fragmented.
    pub too_big: Tally,
    /// Echo replies.
    pub echo_replies: Tally,
    /// ARP messages.
    pub arp: Tally,
    /// All others, including those that hosts do not understand.
    pub others: Tally,
}

impl MessageCounters {
    /// Counts an ICMP message.
    pub(crate) fn count(&mut self, said: Option<IcmpContent>, bytes: u32) {
        let tally = match said {
            Some(IcmpContent::Error(IcmpError::TimeExceeded)) => &mut self.time_exceeded,
            Some(IcmpContent::Error(IcmpError::TooBig { .. })) => &mut self.too_big,
            Some(IcmpContent::Error(_)) => &mut self.unreachable,
            Some(IcmpContent::EchoReply) => &mut self.echo_replies,
            None => &mut self.others,
        };
        tally.add(bytes.into());
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            time_exceeded: self.time_exceeded.since(earlier.time_exceeded),
            unreachable: self.unreachable.since(earlier.unreachable),
            too_big: self.too_big.since(earlier.too_big),
            echo_replies: self.echo_replies.since(earlier.echo_replies),
            arp: self.arp.since(earlier.arp),
            others: self.others.since(earlier.others),
        }
    }
}

/// All counters at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// End of the period counted.
    pub at: Time,
    /// Length of the period counted.
    pub time: Time,
    /// Counters of the lines; link n has lines 2 n and 2 n + 1.
    pub lines: Vec<LineCounters>,
    /// Counters of the flows.
    pub flows: Vec<FlowCounters>,
    /// Counters of the transfers.
    pub transfers: Vec<TransferCounters>,
    /// Counters of the hosts' CPUs.
    pub cpus: Vec<CpuCounters>,
    /// Messages that reached hosts.
    pub messages: MessageCounters,
}

/// Data exchanged by hosts with a stack, since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TransferCounters {
    /// The requesting end.
    pub client: EndCounters,
    /// The responding end.
    pub server: EndCounters,
    /// Bytes delivered to either end in the period counted.
    pub delivered: u64,
}

impl TransferCounters {
    pub(crate) const fn counted(&self) -> Self {
        Self {
            delivered: self.client.received.bytes + self.server.received.bytes,
            ..*self
        }
    }
}

/// Work given to the CPU of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuCounters {
    /// Number of cores.
    pub cores: u64,
    /// Length of the period counted.
    pub time: Time,
    /// Time that the work takes, summed over the cores.
    pub busy: Time,
}

impl CpuCounters {
    /// Returns the work as a share of the capacity of all cores: above 1 if they fall behind.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(
            self.busy.into(),
            u128::from(self.time) * u128::from(self.cores),
        )
    }
}

impl NetworkCounters {
    /// Returns the differences from earlier counters; the receivers' own counters keep their current
    /// values.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let lines = { self.lines.iter() }.zip(&earlier.lines);
        let flows = { self.flows.iter() }.zip(&earlier.flows);
        let transfers = { self.transfers.iter() }.zip(&earlier.transfers);
        Self {
            at: self.at,
            time: self.at - earlier.at,
            lines: lines.map(|(line, before)| line.since(before)).collect(),
            messages: self.messages.since(&earlier.messages),
            transfers: transfers
                .map(|(transfer, before)| TransferCounters {
                    delivered: transfer.delivered - before.delivered,
                    ..*transfer
                })
                .collect(),
            cpus: { self.cpus.iter() }
                .zip(&earlier.cpus)
                .map(|(cpu, before)| CpuCounters {
                    time: cpu.time - before.time,
                    busy: cpu.busy - before.busy,
                    ..*cpu
                })
                .collect(),
            flows: flows
                .map(|(flow, before)| FlowCounters {
                    sent: flow.sent.since(before.sent),
                    arrived: flow.arrived.since(before.arrived),
                    reached: flow.reached.since(before.reached),
                    gone: flow.gone.since(before.gone),
                    messages: flow.messages.since(&before.messages),
                    delivered: flow.delivered - before.delivered,
                    sender: since(&flow.sender, &before.sender),
                    ..*flow
                })
                .collect(),
        }
    }

    /// Returns the delivered bits per second of a transfer, in both directions.
    #[must_use]
    pub fn transferred(&self, transfer: usize) -> f64 {
        let bits = u128::from(self.transfers[transfer].delivered) * 8 * u128::from(SECOND);
        ratio(bits, self.time.into())
    }

    /// Returns the delivered bits per second of a flow.
    #[must_use]
    pub fn goodput(&self, flow: usize) -> f64 {
        let bits = u128::from(self.flows[flow].delivered) * 8 * u128::from(SECOND);
        ratio(bits, self.time.into())
    }

    /// Whether a flow could deliver anything in the period counted: it began before the end of the
    /// period, and was not finished at its beginning.
    #[must_use]
    pub fn is_open(&self, topology: &Topology, flow: usize) -> bool {
        let begin = self.at - self.time;
        let end = match topology.flows[flow].transport {
            Transport::Constant { until, .. } => until,
            _ => self.flows[flow].sender.completed_at,
        };
        self.flows[flow].start < self.at && end.is_none_or(|end| end > begin)
    }

    /// Returns Jain's fairness index of the bytes that the given flows delivered, counting only open
    /// ones: 1 if all have the same, 1 / n if one has everything. `None` if nothing was delivered.
    #[must_use]
    pub fn jain(&self, topology: &Topology, flows: impl IntoIterator<Item = usize>) -> Option<f64> {
        let (mut count, mut sum, mut squares) = (0_u128, 0_u128, 0_u128);
        for flow in { flows.into_iter() }
            .filter(|&flow| self.flows[flow].delivered > 0 || self.is_open(topology, flow))
        {
            let bytes = u128::from(self.flows[flow].delivered);
            (count, sum, squares) = (count + 1, sum + bytes, squares + bytes * bytes);
        }
        (squares > 0).then(|| ratio(sum * sum, count * squares))
    }
}

/// Returns a sender's counts since an earlier time; the times of opening and completion stay.
const fn since(now: &SenderCounters, earlier: &SenderCounters) -> SenderCounters {
    SenderCounters {
        packets: now.packets - earlier.packets,
        segments: now.segments - earlier.segments,
        retransmitted: now.retransmitted - earlier.retransmitted,
        fast_recoveries: now.fast_recoveries - earlier.fast_recoveries,
        timeouts: now.timeouts - earlier.timeouts,
        acknowledged: now.acknowledged - earlier.acknowledged,
        ..*now
    }
}

/// Returns a quotient for display: nothing in a simulation depends on it.
fn ratio(numerator: u128, denominator: u128) -> f64 {
    if denominator == 0 {
        0.0
    } else {
        numerator as f64 / denominator as f64
    }
}
