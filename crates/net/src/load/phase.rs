//! Start times of the traffic on each port.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// Random streams of phases; no other stream uses their numbers.
const STREAM: u64 = 1 << 33;

/// When the first frame of each port begins, for constant arrivals and bursts. Poisson arrivals begin at random anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// One port after the other, evenly spaced within the time from a frame to the next.
    #[default]
    Even,
    /// Each port at a random moment within that time, drawn from the seed.
    Random,
}

impl Phase {
    /// Returns the start of the port at index `place` of `ports`, in the unit of `step`, the time
    /// from one frame to the next.
    pub(super) fn offset(self, step: u128, place: u32, ports: u32, seed: u64) -> u128 {
        match self {
            Self::Even => step * u128::from(place) / u128::from(ports),
            Self::Random => {
                let drawn = Random::new(seed, STREAM | u64::from(place)).next();
                // One of 2^32 positions within the step, so that the product always fits.
                step / (1 << 32) * u128::from(drawn >> 32)
                    + step % (1 << 32) * u128::from(drawn >> 32) / (1 << 32)
            }
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Even => "even",
            Self::Random => "random",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;

    #[test]
    fn phase_is_within_a_step_and_depends_on_the_seed() {
        let step = 672_000_u128 << 20;
        let of = |seed| [0, 1, 2].map(|port| Phase::Random.offset(step, port, 3, seed));
        for seed in 0..100 {
            assert!(of(seed).iter().all(|&offset| offset < step), "{seed}");
        }
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        assert_ne!(of(7)[0], of(7)[1]);
        let late = (0..100).filter(|&seed| of(seed)[0] > step / 2).count();
        assert!((30..70).contains(&late), "{late}");
        let even = [0, 1, 2].map(|port| Phase::Even.offset(step, port, 3, 7));
        assert_eq!(even, [0, step / 3, step * 2 / 3]);
    }
}
