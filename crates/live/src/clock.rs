//! The clock of a live run, which maps host time to simulated time.
//!
//! Simulated time is host time divided by the dilation. A simulator that falls behind does not catch up: lateness
//! beyond the tolerance is taken out permanently, which is a *slip* of the simulated clock; an adaptive dilation also
//! grows until the simulator is no longer late. Between such events, the clock is linear from its anchor, the last
//! time at which one of them happened.

use std::fmt;
use std::str::FromStr;

use npsim_transport::time::Time;

/// Host time in nanoseconds since the run began.
pub type HostTime = u64;

/// Picoseconds per nanosecond.
const NANOSECOND: u128 = 1_000;
/// The fixed-point representation of a dilation of 1.
const UNIT_DILATION: u64 = 1_000;
/// The largest dilation.
const MAX_DILATION: u64 = 1_000 * UNIT_DILATION;
/// The interval at which an adaptive dilation is adjusted, in nanoseconds of host time.
const WINDOW: HostTime = 250_000_000;
/// The dilation is too small if more than 1/`SLIP_DIVISOR` of a window slips.
const SLIP_DIVISOR: u64 = 50;
/// Consecutive windows with less slip before a smaller dilation is tried.
const CALM_WINDOWS: u32 = 8;

/// How many times slower than host time simulated time runs, in thousandths; at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dilation(u64);

impl Dilation {
    /// As fast as host time.
    pub const NONE: Self = Self(UNIT_DILATION);

    /// The dilation as a factor.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0 as f64 / UNIT_DILATION as f64
    }

    /// The dilation enlarged by a quarter.
    fn grown(self) -> Self {
        Self((self.0 + self.0.div_ceil(4)).min(MAX_DILATION))
    }

    /// The dilation reduced by a tenth.
    fn shrunk(self) -> Self {
        Self((self.0 - self.0 / 10).max(UNIT_DILATION))
    }
}

impl fmt::Display for Dilation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.factor())
    }
}

/// The value of `--dilate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DilationRule {
    /// This dilation, with a slip when the simulator is late.
    Fixed(Dilation),
    /// The smallest dilation with which the simulator is not late. Until it is found, the clock slips.
    Adaptive,
}

impl FromStr for DilationRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::Adaptive);
        }
        let factor = text.parse::<f64>().ok();
        let thousandths = factor.map(|factor| factor * UNIT_DILATION as f64);
        let within =
            thousandths.filter(|it| (UNIT_DILATION as f64..=MAX_DILATION as f64).contains(it));
        let dilation = within.map(|it| Self::Fixed(Dilation(it.round() as u64)));
        dilation.ok_or_else(|| {
            format!(
                "`{text}` is not a dilation: write how many times slower than the host's time simulated time goes, from 1 to {}, or `auto`",
                MAX_DILATION / UNIT_DILATION
            )
        })
    }
}

/// The clock of a live run.
#[derive(Clone, Debug)]
pub struct LiveClock {
    rule: DilationRule,
    dilation: Dilation,
    tolerated: HostTime,
    /// A host time and the simulated time that corresponds to it.
    anchor: (HostTime, Time),
    slipped: HostTime,
    max_lateness: HostTime,
    late_since: HostTime,
    /// The start of the current window, and the slip up to then.
    window: (HostTime, HostTime),
    /// Consecutive windows in which the dilation was large enough.
    calm: u32,
}

impl LiveClock {
    /// A clock at simulated time 0 and host time 0. It slips when the simulator is late by more than `tolerated`
    /// nanoseconds of host time.
    #[must_use]
    pub fn new(rule: DilationRule, tolerated: HostTime) -> Self {
        Self {
            rule,
            dilation: match rule {
                DilationRule::Fixed(dilation) => dilation,
                DilationRule::Adaptive => Dilation::NONE,
            },
            tolerated,
            anchor: (0, 0),
            slipped: 0,
            max_lateness: 0,
            late_since: 0,
            window: (0, 0),
            calm: 0,
        }
    }

    /// The simulated time at a host time, rounded down.
    #[must_use]
    pub fn simulated(&self, host: HostTime) -> Time {
        let passed = u128::from(host.saturating_sub(self.anchor.0)) * NANOSECOND;
        let passed = passed * u128::from(UNIT_DILATION) / u128::from(self.dilation.0);
        let passed = Time::try_from(passed).unwrap_or(Time::MAX);
        self.anchor.1.saturating_add(passed)
    }

    /// The first host time at which a simulated time is reached.
    #[must_use]
    pub fn host(&self, simulated: Time) -> HostTime {
        let passed = u128::from(simulated.saturating_sub(self.anchor.1));
        let passed = passed * u128::from(self.dilation.0);
        let passed = passed.div_ceil(NANOSECOND * u128::from(UNIT_DILATION));
        let passed = HostTime::try_from(passed).unwrap_or(HostTime::MAX);
        self.anchor.0.saturating_add(passed)
    }

    /// Records that the simulator reached a simulated time at this host time, possibly later than the clock requires.
    pub fn advance_to(&mut self, simulated: Time, host: HostTime) {
        let late = host.saturating_sub(self.host(simulated));
        self.late_since = self.late_since.max(late);
        self.max_lateness = self.max_lateness.max(late);
        if late > self.tolerated {
            let slip = late - self.tolerated;
            self.slipped += slip;
            self.anchor.0 += slip;
        }
        if self.rule == DilationRule::Adaptive {
            self.adapt(host);
        }
    }

    /// At the end of a window, increases the dilation if much of the window slipped, and decreases it if little
    /// slipped in several windows. The wake-up latency of a host counts as little.
    fn adapt(&mut self, host: HostTime) {
        let (began, slipped) = self.window;
        let window = host.saturating_sub(began);
        if window < WINDOW {
            return;
        }
        let much = (self.slipped - slipped) * SLIP_DIVISOR > window;
        self.window = (host, self.slipped);
        self.calm = if much { 0 } else { self.calm + 1 };
        let dilation = match self.calm {
            0 => self.dilation.grown(),
            CALM_WINDOWS => self.dilation.shrunk(),
            _ => return,
        };
        self.calm %= CALM_WINDOWS;
        self.anchor = (host, self.simulated(host));
        self.dilation = dilation;
    }

    /// The current dilation.
    #[must_use]
    pub fn dilation(&self) -> Dilation {
        self.dilation
    }

    /// The host time taken out of simulated time so far.
    #[must_use]
    pub fn slipped(&self) -> HostTime {
        self.slipped
    }

    /// The largest lateness of the simulator so far.
    #[must_use]
    pub fn max_lateness(&self) -> HostTime {
        self.max_lateness
    }

    /// The largest lateness since the last call.
    pub fn take_lateness(&mut self) -> HostTime {
        std::mem::take(&mut self.late_since)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dilation, DilationRule, LiveClock};

    const MS: u64 = 1_000_000;

    fn clock(text: &str) -> LiveClock {
        LiveClock::new(text.parse().unwrap(), 2 * MS)
    }

    #[test]
    fn simulated_and_host_time_convert_by_the_dilation() {
        let clock = clock("2.5");
        assert_eq!(clock.simulated(10), 4_000);
        assert_eq!(clock.host(4_000), 10);
        for time in [0, 1, 399, 400, 401, 123_456_789] {
            let host = clock.host(time);
            assert!(clock.simulated(host) >= time);
            assert!(host == 0 || clock.simulated(host - 1) < time, "{time}");
        }
    }

    #[test]
    fn clock_slips_by_lateness_beyond_the_tolerance() {
        let mut clock = clock("1");
        clock.advance_to(MS * 1_000, 2 * MS);
        assert_eq!((clock.slipped(), clock.take_lateness()), (0, MS));
        clock.advance_to(MS * 1_000, 13 * MS);
        assert_eq!(clock.slipped(), 10 * MS);
        assert_eq!(clock.take_lateness(), 12 * MS);
        // Slipped time stays out.
        assert_eq!(clock.simulated(13 * MS), 3 * MS * 1_000);
        clock.advance_to(3 * MS * 1_000, 13 * MS);
        assert_eq!((clock.slipped(), clock.take_lateness()), (10 * MS, 0));
        assert_eq!(clock.max_lateness(), 12 * MS);
    }

    #[test]
    fn adaptive_dilation_grows_with_slip_and_shrinks_again() {
        let mut clock = clock("auto");
        assert_eq!(clock.dilation(), Dilation::NONE);
        // A simulator that needs ten times as long as host time.
        let (mut host, mut simulated) = (0, 0);
        let mut work = |clock: &mut LiveClock, until: u64, cost: u64| {
            while host < until {
                let target = clock.simulated(host).max(simulated + 1_000_000);
                host += (target - simulated) * cost / 1_000;
                simulated = target;
                clock.advance_to(simulated, host);
                host += 100_000;
            }
            (host, simulated)
        };
        let (host, before) = work(&mut clock, 20_000 * MS, 10);
        let grown = clock.dilation().factor();
        assert!((6.0..20.0).contains(&grown), "{grown}");
        assert!(clock.simulated(host) >= before, "time goes back");
        let slipped = clock.slipped();
        work(&mut clock, 80_000 * MS, 0);
        assert_eq!(clock.dilation(), Dilation::NONE);
        assert_eq!(clock.slipped(), slipped);
    }

    #[test]
    fn occasional_late_wakeups_do_not_raise_the_dilation() {
        let mut clock = clock("auto");
        for second in 1..60 {
            let host = second * 1_000 * MS;
            clock.advance_to(clock.simulated(host), host + 7 * MS);
        }
        assert_eq!(clock.dilation(), Dilation::NONE);
        assert!(clock.slipped() > 200 * MS);
    }

    #[test]
    fn dilation_is_a_number_from_1_or_auto() {
        for wrong in ["0", "0.5", "-1", "x", "1e9", "NaN", "inf", ""] {
            assert!(wrong.parse::<DilationRule>().is_err(), "{wrong}");
        }
        assert_eq!("auto".parse(), Ok(DilationRule::Adaptive));
        assert_eq!("20".parse(), Ok(DilationRule::Fixed(Dilation(20_000))));
    }
}
