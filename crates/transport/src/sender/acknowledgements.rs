//! Acknowledgements: new ones, duplicates, SACK blocks, and the losses that they indicate.

use crate::host::PartialAck;
use crate::sequence;
use crate::wire::{Flags, Packet, Segment};
use npsim_protocols::time::Time;

use super::{Recovery, Sender};

/// Number of duplicate ACKs that indicate a loss (RFC 5681's fast retransmit).
const DUPLICATES: u32 = 3;

impl Sender {
    /// Processes the acknowledgement in a packet of an open connection.
    ///
    /// The order of the steps matters to congestion controllers (`control.rs`): first the blocks, since
    /// they determine what is new; then the packet's own header (`read`), with the state from before it;
    /// then the advance or the duplicate, which may begin or end recovery; then the bytes that arrived,
    /// each counted once, whether reported by a block or by the acknowledgement number; then the losses
    /// that the blocks show; finally, sending what is now allowed.
    pub(super) fn acknowledge(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Packet>,
    ) {
        let number = segment.acknowledgement;
        let Some(offset) = sequence::from_wire(self.initial, self.acknowledged, number) else {
            return;
        };
        if offset > self.highest || offset < self.acknowledged {
            return;
        }
        let shift = self.peer.map_or(0, |peer| peer.shift);
        // Receivers here never shrink the window, so an older window that arrives late does no harm.
        let edge = offset + (u64::from(segment.window) << shift);
        let opened = edge > self.edge;
        self.edge = self.edge.max(edge);
        let news = if self.sack() {
            self.take_blocks(segment)
        } else {
            0
        };
        let new = offset > self.acknowledged;
        let arrived = if new {
            // Bytes reported by blocks were counted before, or are in `news`.
            let known = self.scoreboard.arrived(self.acknowledged, offset);
            news + (offset - self.acknowledged).saturating_sub(known)
        } else {
            news
        };
        let moment = self.moment(now);
        self.control.law_mut().read(&moment, packet, new);
        if new {
            self.advance(now, offset, segment);
        } else if self.is_duplicate(segment, opened, news) {
            self.duplicate(now);
        }
        if arrived > 0 {
            let moment = self.moment(now);
            self.control.law_mut().arrived(&moment, arrived);
        }
        if news > 0 {
            self.detect_further_losses(now);
        }
        self.output(now, out);
    }

    /// Checks whether SACK blocks show a loss of data sent after the last reported loss. Recovery repairs
    /// it silently, but a law that keeps sending must be informed.
    fn detect_further_losses(&mut self, now: Time) {
        let begin = self.told.max(self.acknowledged);
        let lost_before = self.scoreboard.lost_before(self.mss);
        if self.scoreboard.hole(begin).0 < lost_before {
            self.told = self.highest;
            let moment = self.moment(now);
            self.control.law_mut().lost_during_recovery(&moment);
        }
    }

    /// Whether an ACK is a duplicate by RFC 5681, section 2, or by RFC 6675 with SACK.
    fn is_duplicate(&self, segment: &Segment, opened: bool, news: u64) -> bool {
        let bare = segment.payload == 0 && !segment.flags.has(Flags::FIN);
        let out = self.highest > self.acknowledged;
        out && bare && if self.sack() { news > 0 } else { !opened }
    }

    /// Returns the number of bytes newly reported by the SACK blocks.
    fn take_blocks(&mut self, segment: &Segment) -> u64 {
        let mut news = 0;
        for &(first, after) in segment.options.sack.as_slice() {
            let offset = |wire| sequence::from_wire(self.initial, self.acknowledged, wire);
            if let (Some(first), Some(after)) = (offset(first), offset(after)) {
                // A block before the acknowledgement number is old or reports a duplicate (RFC 2883).
                let first = first.max(self.acknowledged);
                if first < after && after <= self.highest {
                    news += self.scoreboard.insert(first, after);
                }
            }
        }
        news
    }

    /// Handles the acknowledgement of everything before `offset`.
    fn advance(&mut self, now: Time, offset: u64, segment: &Segment) {
        let bytes = offset - self.acknowledged;
        self.take_sample(now, offset, segment);
        self.acknowledged = offset;
        self.next = self.next.max(offset);
        self.scoreboard.advance(offset);
        self.retries = 0;
        let data = offset.min(self.data_end) - 1;
        self.counters.acknowledged = data;
        if self.closing && offset >= self.data_end {
            self.counters.completed_at.get_or_insert(now);
        }
        let restarts = match self.recovery {
            Recovery::Fast { partial } if offset < self.recover => self.partial(bytes, partial),
            _ => {
                self.duplicates = 0;
                self.inflation = 0;
                self.extra = 0;
                true
            }
        };
        if self.acknowledged == self.highest {
            self.expires_at = None;
        } else if restarts {
            self.expires_at = Some(now + self.rtt.timeout());
        }
        let moment = self.moment(now);
        self.control.law_mut().acknowledged(&moment, bytes);
        if self.recovery != Recovery::None && offset >= self.recover {
            self.recovery = Recovery::None;
            self.repair = false;
            if !self.sack() {
                self.control.law_mut().recovered(&moment);
            }
        }
    }

    /// Handles an ACK of a part of the data in flight when the loss was detected (RFC 6582, step 3).
    /// Returns whether the timer restarts.
    fn partial(&mut self, bytes: u64, earlier: bool) -> bool {
        self.recovery = Recovery::Fast { partial: true };
        if self.sack() {
            return true;
        }
        // The next hole begins here; as many bytes may follow it as have left the network.
        self.repair = true;
        self.inflation -= bytes as i64;
        if bytes >= self.mss {
            self.inflation += self.mss as i64;
        }
        !earlier || self.host.partial_ack == PartialAck::Restarts
    }

    fn take_sample(&mut self, now: Time, offset: u64, segment: &Segment) {
        if let (Some(unit), Some(timestamps)) = (self.host.timestamps, segment.options.timestamps) {
            let ticks = ((now / unit) as u32).wrapping_sub(timestamps.echo);
            self.sample(u64::from(ticks) * unit);
        } else if let Some((_, sent)) = self.timed.filter(|&(end, _)| end <= offset) {
            self.sample(now - sent);
            self.timed = None;
        }
    }

    pub(super) fn sample(&mut self, rtt: Time) {
        self.latest_rtt = Some(rtt);
        self.rtt.sample(rtt);
    }

    fn duplicate(&mut self, now: Time) {
        self.duplicates += 1;
        let sack = self.sack();
        if self.recovery != Recovery::None {
            if !sack {
                self.inflation += self.mss as i64;
            }
            return;
        }
        let ranges_tell = sack && self.scoreboard.lost_before(self.mss) > self.acknowledged;
        let lost = self.duplicates >= DUPLICATES || ranges_tell;
        // Without SACK, duplicates may result from retransmissions after a timeout.
        let certain = self.acknowledged > self.recover || sack && self.acknowledged == self.recover;
        if lost && certain {
            self.begin_recovery(now);
        } else if !sack && certain && self.host.limited_transmit && self.next == self.highest {
            self.inflation = i64::from(self.duplicates) * self.mss as i64;
        }
    }

    fn begin_recovery(&mut self, now: Time) {
        let moment = self.moment(now);
        self.control.law_mut().lost(&moment);
        self.counters.fast_recoveries += 1;
        self.recovery = Recovery::Fast { partial: false };
        self.recover = self.highest;
        self.told = self.highest;
        self.inflation = if self.sack() {
            0
        } else {
            i64::from(DUPLICATES) * self.mss as i64
        };
        self.extra = 0;
        self.repair = true;
        self.scoreboard.repaired = self.acknowledged;
        self.timed = None;
        self.expires_at = Some(now + self.rtt.timeout());
    }
}
