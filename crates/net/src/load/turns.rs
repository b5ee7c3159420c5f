//! Distribution of a port's frames over its flows.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::FrameKind;
use crate::random::Random;

/// How the frames of a port are assigned to its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interleave {
    /// To the flows in turn, separately for each kind of frame.
    #[default]
    Turn,
    /// To flows drawn at random, all equally likely.
    Random,
}

impl FromStr for Interleave {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "turn" => Ok(Self::Turn),
            "random" => Ok(Self::Random),
            _ => Err(format!(
                "`{text}` is not a way to give frames to flows: write turn or random"
            )),
        }
    }
}

impl fmt::Display for Interleave {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Turn => "turn",
            Self::Random => "random",
        })
    }
}

/// The index of a flow among those of its port, the number of earlier flows at that index, and the
/// number of earlier frames of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowTurn {
    pub place: u64,
    pub past_flows: u64,
    pub sequence: u64,
}

/// Distributes the frames of one port over its flows.
#[derive(Clone, Debug)]
pub(super) struct FlowTurns {
    /// Number of concurrent flows.
    places: u64,
    /// Frames per flow; 0 if flows do not end.
    flow_packets: u64,
    counts: TurnCounts,
}

#[derive(Clone, Debug)]
enum TurnCounts {
    /// Frames of each kind so far.
    InTurn([u64; FrameKind::ALL.len()]),
    /// Frames of each kind and place so far. The list of a kind is empty before its first frame.
    Drawn(Random, [Vec<u64>; FrameKind::ALL.len()]),
}

impl FlowTurns {
    /// Creates the distribution. Flows are drawn with `random`; nothing else may draw from it.
    pub(super) fn new(
        interleave: Interleave,
        places: u64,
        flow_packets: u64,
        random: Random,
    ) -> Self {
        Self {
            places,
            flow_packets,
            counts: match interleave {
                Interleave::Turn => TurnCounts::InTurn([0; FrameKind::ALL.len()]),
                Interleave::Random => TurnCounts::Drawn(random, Default::default()),
            },
        }
    }

    /// Returns the flow of the next frame of a kind.
    pub(super) fn next(&mut self, kind: FrameKind) -> FlowTurn {
        let (place, frames) = match &mut self.counts {
            TurnCounts::InTurn(counts) => {
                let count = &mut counts[kind as usize];
                let at = (*count % self.places, *count / self.places);
                *count += 1;
                at
            }
            TurnCounts::Drawn(random, counts) => {
                let counts = &mut counts[kind as usize];
                counts.resize(self.places as usize, 0);
                let place = random.below(self.places);
                let count = &mut counts[place as usize];
                *count += 1;
                (place, *count - 1)
            }
        };
        let past_flows = frames.checked_div(self.flow_packets).unwrap_or(0);
        FlowTurn {
            place,
            past_flows,
            sequence: frames - past_flows * self.flow_packets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(interleave: Interleave, flow_packets: u64) -> FlowTurns {
        FlowTurns::new(interleave, 3, flow_packets, Random::new(1, 0))
    }

    #[test]
    fn flows_take_turns_and_end() {
        let mut turns = turns(Interleave::Turn, 2);
        let drawn: Vec<_> = (0..8)
            .map(|_| turns.next(FrameKind::Plain))
            .map(|turn| (turn.place, turn.past_flows, turn.sequence))
            .collect();
        let expected = [
            (0, 0, 0),
            (1, 0, 0),
            (2, 0, 0),
            (0, 0, 1),
            (1, 0, 1),
            (2, 0, 1),
            (0, 1, 0),
            (1, 1, 0),
        ];
        assert_eq!(drawn, expected);
        assert_eq!(turns.next(FrameKind::Tcp).place, 0, "each kind by itself");
    }

    #[test]
    fn drawn_flows_are_uniform_and_numbered_separately() {
        for flow_packets in [0, 10] {
            let mut turns = turns(Interleave::Random, flow_packets);
            let mut seen = [0u64; 3];
            for _ in 0..30_000 {
                let turn = turns.next(FrameKind::Plain);
                let count = &mut seen[turn.place as usize];
                let past = count.checked_div(flow_packets).unwrap_or(0);
                assert_eq!(turn.past_flows, past);
                assert_eq!(turn.sequence, *count - past * flow_packets);
                *count += 1;
            }
            assert!(
                seen.iter().all(|count| count.abs_diff(10_000) < 400),
                "{seen:?}"
            );
        }
    }

    #[test]
    fn interleave_names_round_trip() {
        for way in [Interleave::Turn, Interleave::Random] {
            assert_eq!(way.to_string().parse(), Ok(way));
        }
        assert!("both".parse::<Interleave>().is_err());
    }
}
