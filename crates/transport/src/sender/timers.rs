//! Timers, which expire if nothing comes back.

use crate::wire::{Flags, Packet};
use npsim_protocols::time::Time;

use super::{ConnectionPhase, Recovery, Sender};

impl Sender {
    /// Does everything due at `now`.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Packet>) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.forget_at) {
            // In `Open`, the peer's FIN never arrived.
            self.forget_at = None;
            self.phase = ConnectionPhase::Closed;
        }
        if due(self.expires_at) {
            self.expire(now, out);
        }
        if due(self.probe_at) {
            self.probe(now, out);
        }
        if due(self.pace_at.map(|(_, fires)| fires)) {
            self.pace_at = None;
            self.output(now, out);
        }
    }

    /// Handles an expiry of the retransmission timer (RFC 6298, section 5).
    fn expire(&mut self, now: Time, out: &mut Vec<Packet>) {
        self.expires_at = None;
        self.counters.timeouts += 1;
        if self.retries >= self.host.most_retransmissions {
            self.fail();
            return;
        }
        self.retries += 1;
        self.rtt.back_off();
        self.timed = None;
        if self.phase == ConnectionPhase::SynSent {
            self.send_syn(now, false, out);
            return;
        }
        let moment = self.moment(now);
        self.control.law_mut().timed_out(&moment, self.retries > 1);
        self.recovery = Recovery::None;
        self.recover = self.highest;
        self.told = self.highest;
        self.duplicates = 0;
        self.inflation = 0;
        self.extra = 0;
        self.repair = false;
        self.scoreboard.start_again(self.acknowledged);
        self.next = self.acknowledged;
        self.pace_at = None;
        // The timer starts with the next segment, which pacing may delay.
        self.output(now, out);
    }

    /// Probes the window with a segment that the peer already has.
    fn probe(&mut self, now: Time, out: &mut Vec<Packet>) {
        let probe = self.packet(now, Flags::ACK, self.acknowledged - 1, 0);
        self.send(now, probe, false, out);
        self.rtt.back_off();
        self.probe_at = Some(now + self.rtt.timeout());
    }
}
