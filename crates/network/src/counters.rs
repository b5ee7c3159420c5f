//! What was counted, and what happened between two times.

use npsim_protocols::icmp::message::{IcmpContent, Trouble};
use npsim_stack::EndCounters;
use npsim_transport::time::{SECOND, Time};
use npsim_transport::{ReceiverCounters, SenderCounters};
use serde::{Deserialize, Serialize};

use crate::line::DropReason;
use crate::topology::{Topology, Transport};

/// Packets and their bytes of IP.
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
            // What was thought lost may have been found again.
            packets: self.packets.saturating_sub(earlier.packets),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

/// What one direction of a link has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounters {
    /// Bits per second.
    pub rate: u64,
    /// Until when this counts.
    pub at: Time,
    /// For how long.
    pub time: Time,
    /// What came to its queue.
    pub offered: Tally,
    /// What the queue dropped, by [`DropReason`].
    pub dropped: [Tally; DropReason::ALL.len()],
    /// What the line began to send.
    pub sent: Tally,
    /// Of this, what was lost on it.
    pub lost: Tally,
    /// Time in which it sent.
    pub busy: Time,
    /// Bytes that waited times the picoseconds for which they did.
    pub waited: u128,
    /// Most bytes that waited at once.
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

    /// Adds up the bytes that have waited until now.
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

    /// Share of the time in which the line sent.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(self.busy.into(), self.time.into())
    }

    /// Mean length of the queue in bytes, without what was being sent.
    #[must_use]
    pub fn mean_queue(&self) -> f64 {
        ratio(self.waited, self.time.into())
    }

    /// Everything that the queue dropped.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.dropped.iter().map(|tally| tally.packets).sum()
    }

    /// What it dropped for one reason.
    #[must_use]
    pub const fn dropped_for(&self, reason: DropReason) -> Tally {
        self.dropped[reason as usize]
    }
}

/// What a flow has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowCounters {
    /// When it opens.
    pub start: Time,
    /// The sending end, where it is an endpoint.
    pub sender: SenderCounters,
    /// The receiving end, where it is an endpoint.
    pub receiver: ReceiverCounters,
    /// What its hosts sent, both ways.
    pub sent: Tally,
    /// What reached its hosts, both ways.
    pub arrived: Tally,
    /// Of this, what reached the host that receives.
    pub reached: Tally,
    /// What queues dropped of it or lines lost.
    pub gone: Tally,
    /// Messages about its packets that have reached the host that sent them.
    pub messages: MessageCounters,
    /// Bytes of data that reached the receiver for good: without a gap where it is a stream.
    pub delivered: u64,
}

/// Messages that have reached hosts, by what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageCounters {
    /// A packet's time to live was over.
    pub time_exceeded: Tally,
    /// A destination is unreachable.
    pub unreachable: Tally,
    /// A packet was larger than a link takes, and must not be fragmented.
    pub too_big: Tally,
    /// Answers to echo requests.
    pub echo_replies: Tally,
    /// Messages of ARP.
    pub arp: Tally,
    /// All others, and those that a host does not understand.
    pub others: Tally,
}

impl MessageCounters {
    /// A message of ICMP.
    pub(crate) fn count(&mut self, said: Option<IcmpContent>, bytes: u32) {
        let tally = match said {
            Some(IcmpContent::Trouble(Trouble::TimeExceeded)) => &mut self.time_exceeded,
            Some(IcmpContent::Trouble(Trouble::TooBig { .. })) => &mut self.too_big,
            Some(IcmpContent::Trouble(_)) => &mut self.unreachable,
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

/// Everything that was counted, at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// When.
    pub at: Time,
    /// For how long.
    pub time: Time,
    /// The lines: those of link n at 2 n and 2 n + 1.
    pub lines: Vec<LineCounters>,
    /// The flows.
    pub flows: Vec<FlowCounters>,
    /// The transfers.
    pub transfers: Vec<TransferCounters>,
    /// The CPUs of hosts.
    pub cpus: Vec<CpuCounters>,
    /// Messages that have reached hosts.
    pub messages: MessageCounters,
}

/// What hosts with a stack have exchanged, from the beginning on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TransferCounters {
    /// The end that asks.
    pub client: EndCounters,
    /// The end that answers.
    pub server: EndCounters,
    /// Bytes that came to either end while this was counted.
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

/// What the CPU of a host was given to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuCounters {
    /// The cores.
    pub cores: u64,
    /// For how long this counts.
    pub time: Time,
    /// Time of all cores that the work takes.
    pub busy: Time,
}

impl CpuCounters {
    /// Work as a share of what all cores could do: above 1 where they fall behind.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(
            self.busy.into(),
            u128::from(self.time) * u128::from(self.cores),
        )
    }
}

impl NetworkCounters {
    /// What has happened since an earlier one; receivers' own counters stay as they are now.
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

    /// Delivered bits of a transfer per second, both ways.
    #[must_use]
    pub fn transferred(&self, transfer: usize) -> f64 {
        let bits = u128::from(self.transfers[transfer].delivered) * 8 * u128::from(SECOND);
        ratio(bits, self.time.into())
    }

    /// Delivered bits of a flow per second.
    #[must_use]
    pub fn goodput(&self, flow: usize) -> f64 {
        let bits = u128::from(self.flows[flow].delivered) * 8 * u128::from(SECOND);
        ratio(bits, self.time.into())
    }

    /// Whether a flow could deliver anything while this was counted: it began before the end, and
    /// was not over at the begin.
    #[must_use]
    pub fn is_open(&self, topology: &Topology, flow: usize) -> bool {
        let begin = self.at - self.time;
        let end = match topology.flows[flow].transport {
            Transport::Constant { until, .. } => until,
            _ => self.flows[flow].sender.completed_at,
        };
        self.flows[flow].start < self.at && end.is_none_or(|end| end > begin)
    }

    /// Jain's index of what some flows delivered, of those that were open: 1 where all have as much,
    /// 1 / n where one has all. There is none where nothing was delivered.
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

/// What a sender has counted since; when it was opened and done stays.
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

/// For people: nothing in a simulation depends on it.
fn ratio(numerator: u128, denominator: u128) -> f64 {
    if denominator == 0 {
        0.0
    } else {
        numerator as f64 / denominator as f64
    }
}
