//! Flows selected on the command line.

use std::str::FromStr;

use npsim_net::order::identify::FlowId;

/// The value of `--flow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenFlow {
    /// The flow with this number.
    Number(u32),
    /// The flow with the first number, and those that follow at the second as a distance.
    Slot(u32, u32),
    /// Flows whose name contains this text.
    Name(String),
}

impl ChosenFlow {
    /// Whether a flow is selected.
    pub fn selects(&self, flow: &FlowId) -> bool {
        match self {
            Self::Number(number) => flow.number == *number,
            Self::Slot(first, distance) => {
                let after = flow.number.checked_sub(*first);
                after.is_some_and(|after| after % distance == 0)
            }
            Self::Name(part) => flow.to_string().contains(part.as_str()),
        }
    }
}

impl FromStr for ChosenFlow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = |text: &str| {
            text.parse::<u32>().map_err(|_| {
                format!(
                    "there is no flow {text}; the largest number is {}",
                    u32::MAX
                )
            })
        };
        if is_number(text) {
            return number(text).map(Self::Number);
        }
        match text.split_once('/') {
            Some((first, distance)) if is_number(first) && is_number(distance) => {
                match number(distance)? {
                    0 => Err("the step between flows must be at least 1, as in `0/10`".into()),
                    distance => Ok(Self::Slot(number(first)?, distance)),
                }
            }
            _ => Ok(Self::Name(text.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use npsim_net::load::FrameKind;
    use npsim_net::order::identify::FlowKey;

    use super::*;

    fn flow(number: u32) -> FlowId {
        FlowId {
            number,
            ends: FlowKey::Stamped(FrameKind::Tcp),
        }
    }

    #[test]
    fn flows_are_chosen_by_number_slot_or_name() {
        let selects = |text: &str, number| {
            text.parse::<ChosenFlow>()
                .expect(text)
                .selects(&flow(number))
        };
        assert!(selects("12", 12) && !selects("12", 1));
        assert!(selects("2/10", 2) && selects("2/10", 32));
        assert!(!selects("12/10", 2) && !selects("2/10", 30));
        assert!(selects("tcp", 0) && selects("flow 3 ", 3) && !selects("udp", 3));
        for text in ["0/0", "99999999999", "1/99999999999"] {
            assert!(text.parse::<ChosenFlow>().is_err(), "{text}");
        }
    }
}
