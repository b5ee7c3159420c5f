//! Due times of the packets of a flow with a rate.

use serde::{Deserialize, Serialize};

use super::TimerClock;
use npsim_protocols::time::{self, Time};

/// When the next packet of a flow is due.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Pacer {
    /// Due time and bytes of the last packet.
    last: Option<(Time, u64)>,
    /// Whether a timer was waited for: then the next packet keeps its due time, however late the
    /// timer is. Otherwise there was nothing to send, and the idle time is not made up for.
    waiting: bool,
}

impl Pacer {
    /// Returns when the next packet is due at `rate` bytes per second; not after `now` if it may
    /// leave.
    pub fn due(&self, now: Time, rate: u64) -> Time {
        match self.last {
            None => now,
            Some((last, bytes)) => {
                let due = last.saturating_add(time::transfer_time(bytes, rate));
                if self.waiting { due } else { due.max(now) }
            }
        }
    }

    /// Sets a timer for a packet that is due at `due`; returns when it fires.
    pub fn wait(&mut self, clock: TimerClock, now: Time, due: Time) -> Time {
        self.waiting = true;
        clock.fires_at(now, due)
    }

    /// Records that a packet of `bytes` that was due at `due` has left.
    pub fn sent(&mut self, due: Time, bytes: u64) {
        self.last = Some((due, bytes));
    }

    /// Records that there is nothing to send.
    pub fn rest(&mut self) {
        self.waiting = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_protocols::time::MILLISECOND;

    /// 1000 bytes at 1 MB/s: one packet per millisecond.
    const RATE: u64 = 1_000_000;

    #[test]
    fn late_timer_catches_up_to_the_rate() {
        let clock = TimerClock::jiffies(100);
        let mut pacer = Pacer::default();
        assert_eq!(pacer.due(0, RATE), 0);
        pacer.sent(0, 1_000);
        let due = pacer.due(0, RATE);
        assert_eq!(due, MILLISECOND);
        let fires = pacer.wait(clock, 0, due);
        assert_eq!(fires, 10 * MILLISECOND);
        let mut burst = 0;
        while pacer.due(fires, RATE) <= fires {
            let due = pacer.due(fires, RATE);
            pacer.sent(due, 1_000);
            burst += 1;
        }
        assert_eq!(burst, 10, "1 to 10 ms");
    }

    #[test]
    fn idle_time_allows_no_burst() {
        let mut pacer = Pacer::default();
        pacer.sent(0, 1_000);
        pacer.rest();
        let now = 50 * MILLISECOND;
        assert_eq!(pacer.due(now, RATE), now);
        pacer.sent(now, 1_000);
        assert_eq!(pacer.due(now, RATE), now + MILLISECOND);
    }
}
