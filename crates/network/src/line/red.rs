//! Random early detection, in integers: averages and probabilities are in units of 2^-32.

use npsim_net::Random;
use npsim_transport::time::{SECOND, Time};
use serde::{Deserialize, Serialize};

use super::drop_reason::DropReason;
use crate::topology::Red;

/// The value 1 in the fixed-point format of averages and probabilities.
const ONE: u64 = 1 << 32;
const MILLION: u64 = 1_000_000;

/// Decides for each frame whether it may wait.
///
/// This is the algorithm of Floyd and Jacobson, 1993, which judges by the average alone, as in their
/// paper: ns-2 also admits any frame that finds the queue empty. The average length moves by `weight` with
/// each frame; while nothing waits it decays as if packets had arrived. Between the limits a frame is
/// dropped with a probability that spaces the drops evenly, so that they are neither clustered nor far
/// apart; none is dropped until the number of frames since the last drop times the probability is 1 (the
/// `wait` of ns-2).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Detector {
    red: Red,
    /// Time of a typical packet on the line.
    packet: Time,
    weight: u64,
    average: u64,
    /// Frames since the last drop between the limits; `None` while the average is below.
    count: Option<u64>,
    /// Time since which nothing waits.
    idle: Option<Time>,
    random: Random,
}

impl Detector {
    /// Creates a detector before the first packet. `capacity` is that of the line, in bytes per second.
    pub fn new(red: Red, capacity: u64, seed: u64) -> Self {
        let time = u128::from(red.packet) * u128::from(SECOND) / u128::from(capacity.max(1));
        Self {
            red,
            packet: Time::try_from(time).unwrap_or(Time::MAX).max(1),
            weight: share(red.weight),
            average: 0,
            count: None,
            idle: Some(0),
            random: Random::new(seed, 0),
        }
    }

    /// Records that the queue became empty.
    pub fn emptied(&mut self, now: Time) {
        self.idle = Some(now);
    }

    /// Decides on a frame that arrives at a queue of this length.
    pub fn arrive(&mut self, now: Time, length: u64) -> Result<(), DropReason> {
        if let Some(since) = self.idle.take() {
            let packets = now.saturating_sub(since) / self.packet;
            self.average = times(self.average, power(ONE - self.weight, packets));
        }
        let length = length.min(u64::from(u32::MAX)) * ONE;
        self.average = times(self.average, ONE - self.weight) + times(length, self.weight);
        let done = self.judge();
        // A dropped frame does not wait, so the queue may still be idle.
        if done.is_err() && length == 0 {
            self.idle = Some(now);
        }
        done
    }

    fn judge(&mut self) -> Result<(), DropReason> {
        let (least, most) = (
            self.red.least * ONE,
            self.red.most.max(self.red.least + 1) * ONE,
        );
        let end = if self.red.gentle { 2 * most } else { most };
        if self.average < least {
            self.count = None;
            return Ok(());
        }
        if self.average >= end {
            self.count = Some(0);
            return Err(DropReason::Forced);
        }
        let top = share(self.red.chance);
        let chance = if self.average < most {
            part(top, self.average - least, most - least)
        } else {
            top + part(ONE - top, self.average - most, most)
        };
        let Some(count) = &mut self.count else {
            // The first frame since the average was below the limit.
            self.count = Some(0);
            return Ok(());
        };
        *count += 1;
        let ahead = count.saturating_mul(chance);
        let chance = if ahead < ONE {
            0
        } else if ahead < 2 * ONE {
            part(chance, ONE, 2 * ONE - ahead)
        } else {
            ONE
        };
        if self.random.below(ONE) < chance {
            *count = 0;
            return Err(DropReason::Early);
        }
        Ok(())
    }

    /// Returns the average, in units of 2^-32.
    #[cfg(test)]
    fn average(&self) -> u64 {
        self.average
    }
}

/// Converts parts per million to units of 2^-32.
fn share(parts: u32) -> u64 {
    u64::from(parts).min(MILLION) * ONE / MILLION
}

/// Returns a value times a fraction in units of 2^-32, rounded down.
fn times(value: u64, share: u64) -> u64 {
    ((u128::from(value) * u128::from(share)) >> 32) as u64
}

/// Returns value x numerator / denominator, rounded down, at most 1.
fn part(value: u64, numerator: u64, denominator: u64) -> u64 {
    let part = u128::from(value) * u128::from(numerator) / u128::from(denominator.max(1));
    part.min(ONE.into()) as u64
}

/// Returns a fraction to the power of `n`.
fn power(mut base: u64, mut n: u64) -> u64 {
    let mut result = ONE;
    while n > 0 {
        if n & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Red = Red {
        least: 5,
        most: 15,
        weight: 2_000,
        chance: 100_000,
        gentle: false,
        packet: 1_000,
    };

    #[test]
    fn average_follows_the_queue_and_decays_while_idle() {
        let mut detector = Detector::new(RED, 1_000_000, 1);
        for _ in 0..500 {
            let _ = detector.arrive(0, 4);
        }
        // 4 x (1 - 0.998^500) = 2.53
        let hundredths = detector.average() * 100 / ONE;
        assert_eq!(hundredths, 252);
        detector.emptied(0);
        // A thousand packets of 1 ms later: 2.53 x 0.998^1000 = 0.34
        let _ = detector.arrive(SECOND, 0);
        assert_eq!(detector.average() * 100 / ONE, 34);
    }

    #[test]
    fn early_drops_occur_at_the_configured_probability() {
        let red = Red {
            weight: 1_000_000,
            ..RED
        };
        // At 10 of 5..15 the probability is 5 %: with `wait`, a drop every 1.5 / 0.05 = 30 frames.
        let mut detector = Detector::new(red, 1_000_000, 7);
        let drops = (0..100_000)
            .filter(|_| detector.arrive(0, 10) == Err(DropReason::Early))
            .count();
        assert!((3_200..3_500).contains(&drops), "{drops}");
        assert_eq!(detector.arrive(0, 15), Err(DropReason::Forced));
        assert_eq!(detector.arrive(0, 4), Ok(()));
    }

    #[test]
    fn gentle_red_forces_drops_only_at_twice_the_limit() {
        let red = Red {
            weight: 1_000_000,
            gentle: true,
            ..RED
        };
        let mut detector = Detector::new(red, 1_000_000, 7);
        assert_eq!(detector.arrive(0, 15), Ok(()));
        assert_eq!(detector.arrive(0, 30), Err(DropReason::Forced));
        // A probability of 93 %, but never two drops in a row.
        let drops = { 0..1_000 }.filter(|_| detector.arrive(0, 29).is_err());
        let drops = drops.count();
        assert!((480..=500).contains(&drops), "{drops}");
    }
}
