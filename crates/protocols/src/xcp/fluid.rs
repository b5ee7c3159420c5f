//! The fluid model with which XCP's authors prove its stability: traffic as a rate that changes by a
//! delayed differential equation.
//!
//! ```text
//! q'(t) = y(t) - c
//! y'(t) = -(alpha / d) (y(t - d) - e) - (beta / d^2) q(t - d)
//! ```
//!
//! c is the capacity of the link, e the router's estimate of it; the authors write c for both. In their
//! model the queue is unbounded in both directions, and d excludes the time in the queue. Here queue and
//! traffic never fall below 0 unless configured to, the queue can have a limit, and d can include the
//! time in the queue.

/// Parameters of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fluid {
    /// Capacity of the link in bytes per second.
    pub capacity: f64,
    /// The router's estimate of the capacity in bytes per second.
    pub estimated: f64,
    /// Share of the spare capacity that is handed out per round-trip time.
    pub alpha: f64,
    /// Share of the queue that is drained per round-trip time.
    pub beta: f64,
    /// Round-trip time with an empty queue, in seconds.
    pub rtt: f64,
    /// Whether the time in the queue is part of d.
    pub waits: bool,
    /// Whether queue and traffic may fall below 0, as in the equations.
    pub linear: bool,
    /// The longest d that the router considers, in seconds.
    pub max_interval: f64,
    /// The initial rate in bytes per second.
    pub rate: f64,
    /// Maximum number of bytes in the queue; unbounded if `None`.
    pub limit: Option<f64>,
}

/// Traffic and queue at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FluidState {
    /// Traffic arriving at the router, in bytes per second.
    pub rate: f64,
    /// Bytes in the queue.
    pub queue: f64,
}

/// Steps per round-trip time.
const STEPS: f64 = 500.0;
/// Steps between two checks whether to stop: about a millisecond of host time.
const PROGRESS_STEPS: usize = 1 << 16;

impl Fluid {
    /// Length of a step in seconds.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.rtt / STEPS
    }

    /// Returns the states at the ends of the steps up to a time in seconds.
    #[must_use]
    pub fn run(&self, until: f64) -> Vec<FluidState> {
        self.run_while(until, &|| true).unwrap_or_default()
    }

    /// Returns the states as [`run`](Self::run) does, for as long as `go_on`, which is called many times
    /// per second, returns true; `None` if it was stopped.
    #[must_use]
    pub fn run_while(&self, until: f64, go_on: &dyn Fn() -> bool) -> Option<Vec<FluidState>> {
        let step = self.step();
        let count = (until / step) as usize;
        let mut states = vec![FluidState {
            rate: self.rate,
            queue: 0.0,
        }];
        for now in 0..count {
            if now.is_multiple_of(PROGRESS_STEPS) && !go_on() {
                return None;
            }
            let FluidState { rate, queue } = states[now];
            let waits = if self.waits {
                queue / self.capacity
            } else {
                0.0
            };
            let delay = self.rtt + waits;
            // Nothing is known before the start, so nothing changes during the first round-trip time.
            let back = (delay / step) as usize;
            let change = match now.checked_sub(back).map(|then| states[then]) {
                None => 0.0,
                Some(then) => {
                    let d = delay.min(self.max_interval);
                    -self.alpha / d * (then.rate - self.estimated)
                        - self.beta / (d * d) * then.queue
                }
            };
            let grown = queue + (rate - self.capacity) * step;
            let most = self.limit.unwrap_or(f64::INFINITY);
            let least = if self.linear { f64::NEG_INFINITY } else { 0.0 };
            states.push(FluidState {
                rate: (rate + change * step).max(least),
                queue: grown.max(least).min(most),
            });
        }
        Some(states)
    }
}

#[cfg(test)]
mod tests {
    use super::Fluid;

    const MODEL: Fluid = Fluid {
        capacity: 1.25e6,
        estimated: 1.25e6,
        alpha: 0.4,
        beta: 0.226,
        rtt: 0.5,
        waits: false,
        linear: false,
        max_interval: 1.0,
        rate: 1e5,
        limit: None,
    };

    #[test]
    fn fluid_model_converges_to_capacity_and_an_empty_queue() {
        let end = *MODEL.run(60.0).last().expect("a state");
        assert!((end.rate / MODEL.capacity - 1.0).abs() < 1e-3, "{end:?}");
        assert!(end.queue < 1e3, "{end:?}");
    }

    /// In the steady state, the queue term cancels what is handed out in excess.
    #[test]
    fn overestimated_capacity_leaves_a_standing_queue() {
        for (part, waits) in [(1.1, false), (1.1, true), (1.2, true)] {
            let model = Fluid {
                estimated: MODEL.capacity * part,
                waits,
                max_interval: 10.0,
                ..MODEL
            };
            let end = *model.run(200.0).last().expect("a state");
            let d = model.rtt
                + if waits {
                    end.queue / model.capacity
                } else {
                    0.0
                };
            let expected = 0.4 / 0.226 * d * (model.estimated - model.capacity);
            let off = end.queue / expected - 1.0;
            assert!(off.abs() < 0.01, "{part} {waits}: {end:?}, not {expected}");
        }
    }

    /// The authors' bound for alpha is pi / (4 sqrt 2) = 0.555 with beta = alpha^2 sqrt 2. It holds for
    /// the linear equations: a queue that cannot be negative damps the oscillation.
    #[test]
    fn only_the_linear_model_oscillates_beyond_its_stability_bound() {
        let swing = |alpha: f64, linear| {
            let model = Fluid {
                alpha,
                beta: alpha * alpha * 2.0_f64.sqrt(),
                linear,
                ..MODEL
            };
            let states = model.run(100.0);
            let late = &states[states.len() / 2..];
            let rates = || late.iter().map(|state| state.rate);
            (rates().fold(0.0, f64::max) - rates().fold(f64::MAX, f64::min)) / model.capacity
        };
        assert!(swing(0.4, true) < 0.01, "{}", swing(0.4, true));
        assert!(swing(0.6, true) > 1.0, "{}", swing(0.6, true));
        assert!(swing(0.8, false) < 0.01, "{}", swing(0.8, false));
    }
}
