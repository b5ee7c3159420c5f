//! The four timers. Each counts down from its load value at the timer clock or a fraction of it, raises its
//! interrupt one count after 0, and starts over.
//!
//! Counts are computed from the cycle at which a timer was started, so time without accesses costs nothing.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use crate::interrupts::TIMER_1;

const TIMERS: usize = 4;
/// Bit of the control register: the timer is counting.
const ENABLE: u32 = 1 << 7;

/// The function of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Control,
    Load,
    Count,
    Clear,
}

fn register(offset: u32) -> Option<(Register, usize)> {
    let register = match offset / 0x10 {
        0 => Register::Control,
        1 => Register::Load,
        2 => Register::Count,
        3 => Register::Clear,
        _ => return None,
    };
    Some((register, (offset % 0x10 / 4) as usize))
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Timer {
    control: u32,
    load: u32,
    /// When it began to count from the load value.
    since: Cycle,
    /// Number of times that it has expired since then.
    ends: u64,
    raised: bool,
}

/// The clocks, in MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerClock {
    /// The microengine clock, in whose cycles time is measured.
    pub microengines: u64,
    /// The timer clock.
    pub timers: u64,
}

impl Timer {
    const fn runs(&self) -> bool {
        self.control & ENABLE != 0
    }

    /// Timer clocks per count, from bits 3-2 of the control register.
    const fn prescale(&self) -> u64 {
        match self.control >> 2 & 3 {
            1 => 16,
            2 => 256,
            _ => 1,
        }
    }

    /// The cycle at which it expires for the `number`th time, counted from 1.
    fn end(&self, number: u64, clock: TimerClock) -> Cycle {
        let counts = u128::from(number) * (u128::from(self.load) + 1);
        let cycles = counts * u128::from(self.prescale()) * u128::from(clock.microengines);
        self.since + cycles.div_ceil(u128::from(clock.timers)) as Cycle
    }

    fn advance(&mut self, now: Cycle, clock: TimerClock) {
        if !self.runs() || self.end(self.ends + 1, clock) > now {
            return;
        }
        let ticks = u128::from(now - self.since) * u128::from(clock.timers)
            / u128::from(clock.microengines)
            / u128::from(self.prescale());
        self.ends = (ticks / (u128::from(self.load) + 1)) as u64;
        self.raised = true;
    }

    fn count(&self, now: Cycle, clock: TimerClock) -> u32 {
        if !self.runs() {
            return self.load;
        }
        let ticks = u128::from(now - self.since) * u128::from(clock.timers)
            / u128::from(clock.microengines)
            / u128::from(self.prescale());
        let period = u128::from(self.load) + 1;
        (u128::from(self.load) - ticks % period) as u32
    }
}

/// The timers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timers([Timer; TIMERS]);

impl Timers {
    /// Advances the timers to a cycle.
    pub fn advance(&mut self, now: Cycle, clock: TimerClock) {
        for timer in &mut self.0 {
            timer.advance(now, clock);
        }
    }

    /// The interrupt lines of the timers.
    #[must_use]
    pub fn lines(&self) -> u32 {
        let timers = self.0.iter().enumerate();
        let raised = timers.filter(|(_, timer)| timer.raised);
        raised.fold(0, |lines, (at, _)| lines | TIMER_1 << at)
    }

    /// The cycle at which the next timer expires, among those of these lines that have not raised their interrupt.
    #[must_use]
    pub fn next(&self, lines: u32, clock: TimerClock) -> Option<Cycle> {
        let timers = self.0.iter().enumerate();
        let counting = timers
            .filter(|(at, timer)| timer.runs() && !timer.raised && lines & TIMER_1 << at != 0);
        counting.map(|(_, it)| it.end(it.ends + 1, clock)).min()
    }

    /// Reads a register; `None` if there is none.
    #[must_use]
    pub fn read(&self, offset: u32, now: Cycle, clock: TimerClock) -> Option<u32> {
        let (register, number) = register(offset)?;
        let timer = &self.0[number];
        Some(match register {
            Register::Control => timer.control,
            Register::Load => timer.load,
            Register::Count => timer.count(now, clock),
            Register::Clear => timer.raised.into(),
        })
    }

    /// Writes a register. Returns false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycle) -> bool {
        let Some((register, number)) = register(offset) else {
            return false;
        };
        let timer = &mut self.0[number];
        match register {
            Register::Control => {
                timer.control = value;
                (timer.since, timer.ends) = (now, 0);
            }
            Register::Load => {
                timer.load = value;
                (timer.since, timer.ends) = (now, 0);
            }
            Register::Count => {}
            Register::Clear => timer.raised &= value & 1 == 0,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: TimerClock = TimerClock {
        microengines: 600,
        timers: 50,
    };

    #[test]
    fn timer_expires_periodically() {
        let mut timers = Timers::default();
        assert!(timers.write(0x14, 99, 1000) && timers.write(0x04, ENABLE, 1000));
        assert_eq!(timers.next(u32::MAX, CLOCK), Some(1000 + 100 * 12));
        assert_eq!(timers.read(0x24, 1000 + 12 * 30, CLOCK), Some(69));
        timers.advance(2199, CLOCK);
        assert_eq!(timers.lines(), 0);
        timers.advance(2200, CLOCK);
        assert_eq!(timers.lines(), TIMER_1 << 1);
        assert_eq!(
            timers.next(u32::MAX, CLOCK),
            None,
            "until it is acknowledged"
        );
        timers.advance(5000, CLOCK);
        assert!(timers.write(0x34, 1, 5000));
        assert_eq!(timers.lines(), 0);
        assert_eq!(timers.next(u32::MAX, CLOCK), Some(1000 + 4 * 1200));
        assert_eq!(timers.next(TIMER_1, CLOCK), None, "no line of another");
    }

    #[test]
    fn timer_prescaler_divides_the_clock() {
        let mut timers = Timers::default();
        assert!(timers.write(0x10, 1, 0) && timers.write(0, ENABLE | 2 << 2, 0));
        assert_eq!(timers.next(TIMER_1, CLOCK), Some(2 * 256 * 12));
        assert!(timers.write(0, 0, 7));
        assert_eq!(timers.next(TIMER_1, CLOCK), None);
        assert!(!timers.write(0x40, 0, 0));
    }
}
