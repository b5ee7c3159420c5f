//! Samples with all knobs moved together; they are the same on every machine.

use crate::sensitivity::knobs::{Knob, KnobChange, RELATIVE_CHANGE};

/// Draws a sample of all knobs: a number anywhere within its share, a constant unchanged
/// or at one of its alternative values.
pub(super) fn draw(knobs: &[Knob], sample: u64) -> Vec<(usize, KnobChange)> {
    let mut state = sample.wrapping_add(1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let drawn = |(at, knob): (usize, &Knob)| {
        let word = next(&mut state);
        let to = match knob.instead() {
            [] => {
                // Steps of a thousandth are fine enough, and reproducible.
                let part = (word % 2001) as f64 / 1000.0 - 1.0;
                KnobChange::Scale(1.0 + RELATIVE_CHANGE * part)
            }
            values => match values.get((word % (values.len() as u64 + 1)) as usize) {
                Some(value) => KnobChange::Set(value.clone()),
                None => KnobChange::Unchanged,
            },
        };
        (at, to)
    };
    knobs.iter().enumerate().map(drawn).collect()
}

/// `SplitMix64` by Steele et al.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
