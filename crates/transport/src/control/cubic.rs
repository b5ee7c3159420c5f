//! CUBIC (RFC 9438) in integers.

use serde::{Deserialize, Serialize};

use super::{ControlInputs, Controller, Reno, SendLimit};
use crate::host::HostParameters;
use crate::scaling::{ScaleError, divided};
use npsim_protocols::time::{SECOND, Time};

/// Fraction bits of times in the cubic function, whose unit is [`CubicParameters::second`].
const TIME_BITS: u32 = 20;
/// Fraction bits of windows.
const WINDOW_BITS: u32 = 16;
/// The multiplicative decrease, 0.7.
const BETA: (u64, u64) = (7, 10);
/// The constant C, 0.4 segments per second cubed.
const C: (u128, u128) = (4, 10);
/// 3 (1 - beta) / (1 + beta): the additive increase that is fair to Reno at this decrease, 9/17.
const ALPHA: (u64, u64) = (9, 17);

/// Parameters of CUBIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CubicParameters {
    /// The second in the constant C, which is 0.4 segments per second cubed: the only time in the
    /// law.
    pub second: Time,
}

impl Default for CubicParameters {
    fn default() -> Self {
        Self { second: SECOND }
    }
}

impl CubicParameters {
    pub(super) fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        let second = divided("the second of CUBIC", self.second, scale)?;
        Ok(Self { second })
    }
}

/// The CUBIC controller: the window grows as a cubic function of the time since the last loss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cubic {
    parameters: CubicParameters,
    /// Handles slow start, and holds the window.
    reno: Reno,
    /// Window in congestion avoidance, x 2^16.
    window: u64,
    /// Window before the last reduction, lowered by fast convergence, in bytes.
    greatest: u64,
    /// Window at the last reduction, in bytes.
    prior: u64,
    epoch: Option<Epoch>,
    after_timeout: bool,
}

/// A period of congestion avoidance after a loss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Epoch {
    start: Time,
    /// Time after which the cubic returns to `origin`, in seconds x 2^20.
    k: u64,
    /// The plateau, in bytes.
    origin: u64,
    /// Estimate of Reno's window, x 2^16.
    estimate: u64,
}

impl Cubic {
    /// Creates the state before the handshake.
    #[must_use]
    pub fn new(host: &HostParameters, parameters: CubicParameters) -> Self {
        Self {
            parameters,
            reno: Reno::new(host),
            window: 0,
            greatest: 0,
            prior: 0,
            epoch: None,
            after_timeout: false,
        }
    }

    /// Returns the cubic function at `elapsed` after the start of the epoch, in bytes.
    fn cubic(&self, epoch: &Epoch, elapsed: Time, mss: u64) -> u64 {
        let t = (i128::from(elapsed) << TIME_BITS) / i128::from(self.parameters.second);
        let distance = (t - i128::from(epoch.k)).clamp(-(1 << 34), 1 << 34);
        let cube = distance * distance * distance;
        let bytes = (cube >> TIME_BITS) * i128::from(mss) * C.0 as i128
            / C.1 as i128
            / (1 << (2 * TIME_BITS));
        (i128::from(epoch.origin) + bytes).max(0) as u64
    }

    /// Returns the time in which the cubic function rises by `bytes`, in seconds x 2^20.
    fn rise_time(bytes: u64, mss: u64) -> u64 {
        let cube = (u128::from(bytes) << (3 * TIME_BITS)) * C.1 / (u128::from(mss) * C.0);
        cube_root(cube)
    }

    fn begin(&self, moment: &ControlInputs) -> Epoch {
        let window = self.reno.window();
        let (k, origin) = if self.after_timeout || self.greatest <= window {
            (0, window)
        } else {
            let rise = self.greatest - window;
            (Self::rise_time(rise, moment.mss), self.greatest)
        };
        Epoch {
            start: moment.now,
            k,
            origin,
            estimate: window << WINDOW_BITS,
        }
    }

    fn reduce(&mut self, moment: &ControlInputs) {
        let window = self.reno.window().max(moment.mss);
        self.prior = window;
        // Fast convergence: a flow whose window is smaller than before releases more.
        self.greatest = if window < self.greatest {
            window * (BETA.1 + BETA.0) / (2 * BETA.1)
        } else {
            window
        };
        let reduced = (moment.flight * BETA.0 / BETA.1).max(2 * moment.mss);
        self.reno.set_threshold(reduced);
        self.epoch = None;
    }
}

/// Returns the integer cube root, rounded down.
fn cube_root(value: u128) -> u64 {
    let mut root = 0_u128;
    for bit in (0..42).rev() {
        let tried = root | 1 << bit;
        if tried * tried * tried <= value {
            root = tried;
        }
    }
    root as u64
}

impl Controller for Cubic {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn has_slow_start(&self) -> bool {
        true
    }

    fn threshold(&self) -> Option<u64> {
        self.reno.threshold()
    }

    fn opened(&mut self, moment: &ControlInputs, lost: bool) {
        self.reno.opened(moment, lost);
    }

    fn acknowledged(&mut self, moment: &ControlInputs, bytes: u64) {
        if moment.recovering || moment.limit != SendLimit::Window {
            return;
        }
        if self.reno.in_slow_start() {
            self.reno.slow_start(moment.mss, bytes);
            return;
        }
        if self.epoch.is_none() {
            self.window = self.reno.window() << WINDOW_BITS;
        }
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin(moment));
        let elapsed = moment.now - epoch.start;
        let window = self.window >> WINDOW_BITS;
        let ahead = elapsed + moment.srtt.unwrap_or(0);
        let target = self.cubic(&epoch, ahead, moment.mss);
        let target = target.clamp(window, window + window / 2);
        let share = |of: u64, (up, down): (u64, u64)| {
            let added = (u128::from(of) * u128::from(up)) << WINDOW_BITS;
            (added / (u128::from(window.max(1)) * u128::from(down))) as u64
        };
        // Reno's window, counted in acknowledged segments; it grows as fast as Reno once it has
        // reached the window at the loss.
        let rate = if epoch.estimate >> WINDOW_BITS >= self.prior {
            (1, 1)
        } else {
            ALPHA
        };
        epoch.estimate += share(bytes * moment.mss, rate);
        if self.cubic(&epoch, elapsed, moment.mss) < epoch.estimate >> WINDOW_BITS {
            self.window = self.window.max(epoch.estimate);
        } else {
            self.window += share((target - window) * bytes, (1, 1));
        }
        self.reno.set_window(self.window >> WINDOW_BITS);
        self.epoch = Some(epoch);
    }

    fn lost(&mut self, moment: &ControlInputs) {
        self.reduce(moment);
        self.after_timeout = false;
        let threshold = self.reno.threshold().unwrap_or(2 * moment.mss);
        self.reno.set_window(threshold);
    }

    fn recovered(&mut self, moment: &ControlInputs) {
        self.reno.recovered(moment);
    }

    fn timed_out(&mut self, moment: &ControlInputs, again: bool) {
        if !again {
            self.reduce(moment);
            self.after_timeout = true;
        }
        self.reno.set_window(moment.mss);
        self.epoch = None;
    }

    fn idle(&mut self, moment: &ControlInputs) {
        self.reno.idle(moment);
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cubic_returns_to_its_plateau_after_k() {
        let mss = 1_460;
        // 100 segments, 30 of them lost: K = cbrt(30 / 0.4) = 4.21716 s.
        let k = Cubic::rise_time(30 * mss, mss);
        assert_eq!((k * 100_000) >> TIME_BITS, 421_716);
        let cubic = Cubic::new(&HostParameters::default(), CubicParameters::default());
        let epoch = Epoch {
            start: 0,
            k,
            origin: 100 * mss,
            estimate: 0,
        };
        let at = |t| cubic.cubic(&epoch, t, mss);
        assert!(at(0).abs_diff(70 * mss) < 2);
        assert!(at(4_217_163 * 1_000_000).abs_diff(100 * mss) < 2);
        // Two seconds later it is 0.4 x 2^3 = 3.2 segments above.
        assert!(at(6_217_163 * 1_000_000).abs_diff(100 * mss + 4_672) < 4);
    }

    proptest! {
        #[test]
        fn cube_root_is_rounded_down(value in 0..1_u128 << 120) {
            let root = u128::from(cube_root(value));
            prop_assert!(root.pow(3) <= value && (root + 1).pow(3) > value);
        }
    }
}
