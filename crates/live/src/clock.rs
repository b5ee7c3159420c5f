//! The clock of a live run: which simulated time belongs to which time of the host.
//!
//! Simulated time is the host's time divided by the dilation. A simulator that is late does not
//! make it up: what exceeds the tolerated lateness is taken out for good, which is a *slip* of the
//! simulated clock; where the dilation adapts, it grows as well, until the simulator is no longer late. In between the
//! clock is a straight line from its anchor, the last time at which either happened.

use std::fmt;
use std::str::FromStr;

use npsim_transport::time::Time;

/// Nanoseconds of the host since the run began.
pub type HostTime = u64;

/// Picoseconds in a nanosecond.
const NANOSECOND: u128 = 1_000;
/// What a dilation of 1 is counted as.
const WHOLE: u64 = 1_000;
/// The largest dilation.
const MOST: u64 = 1_000 * WHOLE;
/// How often an adapting dilation is looked at, nanoseconds of the host.
const WINDOW: HostTime = 250_000_000;
/// The part of a window that slips where the dilation is too small: a fiftieth.
const MUCH: u64 = 50;
/// Windows in a row in which less slips before a smaller dilation is tried.
const CALM: u32 = 8;

/// How many times slower than the host's time simulated time goes, to a thousandth; at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dilation(u64);

impl Dilation {
    /// As fast as the host's time.
    pub const NONE: Self = Self(WHOLE);

    /// The dilation as a number.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0 as f64 / WHOLE as f64
    }

    /// A quarter larger.
    fn grown(self) -> Self {
        Self((self.0 + self.0.div_ceil(4)).min(MOST))
    }

    /// A tenth smaller.
    fn shrunk(self) -> Self {
        Self((self.0 - self.0 / 10).max(WHOLE))
    }
}

impl fmt::Display for Dilation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.factor())
    }
}

/// What `--dilate` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DilationRule {
    /// This dilation, and a slip where the simulator is late.
    Fixed(Dilation),
    /// The least dilation with which the simulator is not late. While it is being found, the clock
    /// slips.
    Adapting,
}

impl FromStr for DilationRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::Adapting);
        }
        let factor = text.parse::<f64>().ok();
        let thousandths = factor.map(|factor| factor * WHOLE as f64);
        let within = thousandths.filter(|it| (WHOLE as f64..=MOST as f64).contains(it));
        let dilation = within.map(|it| Self::Fixed(Dilation(it.round() as u64)));
        dilation.ok_or_else(|| {
            format!(
                "`{text}` is no dilation: write how many times slower than the host's time simulated time goes, from 1 to {}, or `auto`",
                MOST / WHOLE
            )
        })
    }
}

/// The clock.
#[derive(Clone, Debug)]
pub struct LiveClock {
    rule: DilationRule,
    dilation: Dilation,
    tolerated: HostTime,
    /// A time of the host and the simulated time that belongs to it.
    anchor: (HostTime, Time),
    slipped: HostTime,
    most_late: HostTime,
    late_since: HostTime,
    /// When the present window began, and what had slipped until then.
    window: (HostTime, HostTime),
    /// Windows in a row in which the dilation was large enough.
    calm: u32,
}

impl LiveClock {
    /// A clock at simulated time 0 and time 0 of the host. A simulator that is late by more than
    /// `tolerated` nanoseconds of the host makes it slip.
    #[must_use]
    pub fn new(rule: DilationRule, tolerated: HostTime) -> Self {
        Self {
            rule,
            dilation: match rule {
                DilationRule::Fixed(dilation) => dilation,
                DilationRule::Adapting => Dilation::NONE,
            },
            tolerated,
            anchor: (0, 0),
            slipped: 0,
            most_late: 0,
            late_since: 0,
            window: (0, 0),
            calm: 0,
        }
    }

    /// The simulated time at a time of the host, rounded down.
    #[must_use]
    pub fn simulated(&self, host: HostTime) -> Time {
        let passed = u128::from(host.saturating_sub(self.anchor.0)) * NANOSECOND;
        let passed = passed * u128::from(WHOLE) / u128::from(self.dilation.0);
        let passed = Time::try_from(passed).unwrap_or(Time::MAX);
        self.anchor.1.saturating_add(passed)
    }

    /// The first time of the host at which a simulated time has come.
    #[must_use]
    pub fn host(&self, simulated: Time) -> HostTime {
        let passed = u128::from(simulated.saturating_sub(self.anchor.1));
        let passed = passed * u128::from(self.dilation.0);
        let passed = passed.div_ceil(NANOSECOND * u128::from(WHOLE));
        let passed = HostTime::try_from(passed).unwrap_or(HostTime::MAX);
        self.anchor.0.saturating_add(passed)
    }

    /// At this time of the host the simulator has just come to a simulated time, which may lie
    /// behind the one that belongs to it.
    pub fn come_to(&mut self, simulated: Time, host: HostTime) {
        let late = host.saturating_sub(self.host(simulated));
        self.late_since = self.late_since.max(late);
        self.most_late = self.most_late.max(late);
        if late > self.tolerated {
            let slip = late - self.tolerated;
            self.slipped += slip;
            self.anchor.0 += slip;
        }
        if self.rule == DilationRule::Adapting {
            self.adapt(host);
        }
    }

    /// At the end of a window, makes the dilation larger if much of the window slipped, and smaller
    /// if little did in several of them. What a host takes to wake up is little.
    fn adapt(&mut self, host: HostTime) {
        let (began, slipped) = self.window;
        let window = host.saturating_sub(began);
        if window < WINDOW {
            return;
        }
        let much = (self.slipped - slipped) * MUCH > window;
        self.window = (host, self.slipped);
        self.calm = if much { 0 } else { self.calm + 1 };
        let dilation = match self.calm {
            0 => self.dilation.grown(),
            CALM => self.dilation.shrunk(),
            _ => return,
        };
        self.calm %= CALM;
        self.anchor = (host, self.simulated(host));
        self.dilation = dilation;
    }

    /// The dilation at present.
    #[must_use]
    pub fn dilation(&self) -> Dilation {
        self.dilation
    }

    /// The host's time that was taken out of simulated time.
    #[must_use]
    pub fn slipped(&self) -> HostTime {
        self.slipped
    }

    /// The largest lateness of the simulator so far.
    #[must_use]
    pub fn most_late(&self) -> HostTime {
        self.most_late
    }

    /// The largest lateness since this was asked last.
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
    fn simulated_time_is_the_hosts_over_the_dilation_and_back() {
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
    fn a_late_simulator_makes_the_clock_slip_and_is_late_no_more_than_is_tolerated() {
        let mut clock = clock("1");
        clock.come_to(MS * 1_000, 2 * MS);
        assert_eq!((clock.slipped(), clock.take_lateness()), (0, MS));
        clock.come_to(MS * 1_000, 13 * MS);
        assert_eq!(clock.slipped(), 10 * MS);
        assert_eq!(clock.take_lateness(), 12 * MS);
        // What was taken out stays out.
        assert_eq!(clock.simulated(13 * MS), 3 * MS * 1_000);
        clock.come_to(3 * MS * 1_000, 13 * MS);
        assert_eq!((clock.slipped(), clock.take_lateness()), (10 * MS, 0));
        assert_eq!(clock.most_late(), 12 * MS);
    }

    #[test]
    fn an_adapting_dilation_grows_where_much_slips_and_shrinks_again() {
        let mut clock = clock("auto");
        assert_eq!(clock.dilation(), Dilation::NONE);
        // A simulator that needs ten times the time of the host.
        let (mut host, mut simulated) = (0, 0);
        let mut work = |clock: &mut LiveClock, until: u64, cost: u64| {
            while host < until {
                let target = clock.simulated(host).max(simulated + 1_000_000);
                host += (target - simulated) * cost / 1_000;
                simulated = target;
                clock.come_to(simulated, host);
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
    fn hosts_that_wake_up_late_now_and_then_are_no_reason_for_a_dilation() {
        let mut clock = clock("auto");
        for second in 1..60 {
            let host = second * 1_000 * MS;
            clock.come_to(clock.simulated(host), host + 7 * MS);
        }
        assert_eq!(clock.dilation(), Dilation::NONE);
        assert!(clock.slipped() > 200 * MS);
    }

    #[test]
    fn dilation_is_a_number_from_1_or_auto() {
        for wrong in ["0", "0.5", "-1", "x", "1e9", "NaN", "inf", ""] {
            assert!(wrong.parse::<DilationRule>().is_err(), "{wrong}");
        }
        assert_eq!("auto".parse(), Ok(DilationRule::Adapting));
        assert_eq!("20".parse(), Ok(DilationRule::Fixed(Dilation(20_000))));
    }
}
