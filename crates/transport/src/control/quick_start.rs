//! Quick-Start (RFC 4782): the handshake requests an initial rate from the routers.

use npsim_net::Random;
use npsim_protocols::quick_start::{QuickStartOption, option, rate_units};
use serde::{Deserialize, Serialize};

use super::{ControlInputs, Controller, Reno, SendLimit};
use crate::host::HostParameters;
use crate::scaling::{ScaleError, divided};
use crate::wire::{Flags, Packet, QuickStartResponse};
use npsim_protocols::time::{self, SECOND, Time};

/// Bytes per second of one unit of rate, 40 kbit/s.
const UNIT: u64 = 5_000;
/// The largest rate code.
const MAX_CODE: u8 = 15;

/// Parameters of a Quick-Start sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartParameters {
    /// The rate in bytes of IP per second; the request uses the smallest code that is not below it.
    pub rate: u64,
    /// First timeout of a SYN with a request: 3 s by default.
    pub handshake_timeout: Time,
    /// Window in segments above which slow start is then limited (RFC 3742).
    pub limited_slow_start: Option<u16>,
}

impl QuickStartParameters {
    /// Creates a request of `rate` bytes per second with the RFCs' constants: 3 s, 100 segments.
    #[must_use]
    pub const fn for_rate(rate: u64) -> Self {
        Self {
            rate,
            handshake_timeout: 3 * SECOND,
            limited_slow_start: Some(100),
        }
    }

    /// Returns the requested rate code.
    #[must_use]
    pub fn code(&self) -> u8 {
        let enough = |&code: &u8| u64::from(rate_units(code).unsigned_abs()) * UNIT >= self.rate;
        (1..MAX_CODE).find(enough).unwrap_or(MAX_CODE)
    }

    pub(super) fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        let name = "the first timeout of a Quick-Start request";
        Ok(Self {
            rate: self.rate.saturating_mul(scale),
            handshake_timeout: divided(name, self.handshake_timeout, scale)?,
            ..self
        })
    }
}

/// The state of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum RequestState {
    /// To be sent with the SYN.
    New,
    /// Sent, with this TTL difference and nonce.
    Asked { ttl_difference: u8, nonce: u32 },
    /// Answered, or not, by the SYN/ACK; the report of the code is to be sent with the next packet.
    Approved {
        code: u8,
        nonce: u32,
        reported: bool,
    },
    /// The first window is being sent at this rate, bytes per second.
    Paced { rate: u64 },
    /// Everything sent before this offset was sent at the approved rate.
    Sent { end: u64 },
    /// There was no request, or nothing is left to watch.
    Over,
}

/// Reno with a first window sent at a rate that the routers approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartControl {
    parameters: QuickStartParameters,
    reno: Reno,
    random: Random,
    state: RequestState,
}

impl QuickStartControl {
    /// Creates the state before the handshake; nonce and TTL are drawn with `random`.
    #[must_use]
    pub fn new(host: &HostParameters, parameters: QuickStartParameters, random: Random) -> Self {
        Self {
            parameters,
            reno: Reno::new(host),
            random,
            state: RequestState::New,
        }
    }

    /// Whether an answer is consistent: the TTLs show that all routers took part, the rate is not
    /// higher than requested, and the part of the nonce that routers leave at that rate is as sent.
    fn is_proved(&self, response: QuickStartResponse, ttl_difference: u8, nonce: u32) -> bool {
        let kept = (1_u32 << (2 * response.rate)) - 1;
        response.ttl_difference == ttl_difference
            && response.rate <= self.parameters.code()
            && (response.nonce ^ nonce) & kept == 0
    }

    /// Handles the loss of a packet of the approved window: the sender continues as if there had been
    /// no Quick-Start. Returns false for other packets.
    fn revert(&mut self, moment: &ControlInputs) -> bool {
        let of_window = match self.state {
            RequestState::Paced { .. } => true,
            RequestState::Sent { end } => moment.acknowledged < end,
            _ => false,
        };
        if of_window {
            let delivered = moment.acknowledged.saturating_sub(1);
            self.reno.set_threshold((delivered / 2).max(2 * moment.mss));
            self.reno.set_window(self.reno.first_window(moment.mss));
            self.state = RequestState::Over;
        }
        of_window
    }
}

impl Controller for QuickStartControl {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn has_slow_start(&self) -> bool {
        true
    }

    fn threshold(&self) -> Option<u64> {
        self.reno.threshold()
    }

    fn rate(&self) -> Option<u64> {
        match self.state {
            RequestState::Paced { rate } => Some(rate),
            _ => None,
        }
    }

    fn handshake_timeout(&self) -> Option<Time> {
        Some(self.parameters.handshake_timeout)
    }

    fn opened(&mut self, moment: &ControlInputs, lost: bool) {
        self.reno.opened(moment, lost);
        let RequestState::Approved { code, .. } = self.state else {
            self.state = RequestState::Over;
            return;
        };
        self.state = RequestState::Over;
        let rate = u64::from(rate_units(code).unsigned_abs()) * UNIT;
        let Some(srtt) = moment.srtt else { return };
        let window = time::bytes_in(srtt, rate) / moment.packet * moment.mss;
        if window > self.reno.window() {
            self.reno.set_window(window);
            let limit = self.parameters.limited_slow_start;
            self.reno.limited_slow_start = limit.map(|limit| u64::from(limit) * moment.mss);
            self.state = RequestState::Paced { rate };
        }
    }

    fn acknowledged(&mut self, moment: &ControlInputs, bytes: u64) {
        match self.state {
            RequestState::Paced { .. } => {
                // The window is set to what was actually sent in that time.
                let sent = moment.flight + bytes;
                self.reno.set_window(sent.min(self.reno.window()));
                self.state = RequestState::Sent {
                    end: moment.highest,
                };
                let moment = ControlInputs {
                    limit: SendLimit::Window,
                    ..*moment
                };
                self.reno.acknowledged(&moment, bytes);
            }
            RequestState::Sent { end } if moment.acknowledged >= end => {
                self.state = RequestState::Over;
                self.reno.acknowledged(moment, bytes);
            }
            _ => self.reno.acknowledged(moment, bytes),
        }
    }

    fn lost(&mut self, moment: &ControlInputs) {
        if !self.revert(moment) {
            self.reno.lost(moment);
        }
    }

    fn recovered(&mut self, moment: &ControlInputs) {
        self.reno.recovered(moment);
    }

    fn timed_out(&mut self, moment: &ControlInputs, again: bool) {
        if self.revert(moment) {
            self.reno.set_window(moment.mss);
        } else {
            self.reno.timed_out(moment, again);
        }
    }

    fn idle(&mut self, moment: &ControlInputs) {
        self.reno.idle(moment);
    }

    fn mark(&mut self, _moment: &ControlInputs, packet: &mut Packet, first: bool) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let syn = segment.flags.has(Flags::SYN);
        match self.state {
            RequestState::New if syn && first => {
                let drawn = self.random.next();
                let option = QuickStartOption {
                    function: option::RATE_REQUEST,
                    rate: self.parameters.code(),
                    ttl: drawn as u8,
                    nonce: (drawn >> 34) as u32,
                    reserved: 0,
                };
                self.state = RequestState::Asked {
                    ttl_difference: packet.ttl.wrapping_sub(option.ttl),
                    nonce: option.nonce,
                };
                packet.quick_start = Some(option);
            }
            // The SYN may have been lost because of its options: the next one has none.
            RequestState::New | RequestState::Asked { .. } if syn => {
                self.state = RequestState::Over;
            }
            RequestState::Approved {
                code,
                nonce,
                reported: false,
            } => {
                packet.quick_start = Some(QuickStartOption {
                    function: option::APPROVED_RATE,
                    rate: code,
                    ttl: 0,
                    nonce,
                    reserved: 0,
                });
                self.state = RequestState::Approved {
                    code,
                    nonce,
                    reported: true,
                };
            }
            _ => {}
        }
    }

    fn read(&mut self, _moment: &ControlInputs, packet: &Packet, _new: bool) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let RequestState::Asked {
            ttl_difference,
            nonce,
        } = self.state
        else {
            return;
        };
        if segment.flags.has(Flags::SYN | Flags::ACK) {
            let response = segment.options.quick_start;
            let proved = response.filter(|&r| self.is_proved(r, ttl_difference, nonce));
            self.state = RequestState::Approved {
                code: proved.map_or(0, |response| response.rate),
                nonce,
                reported: false,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_rate_rounds_up_to_the_next_code() {
        let code = |rate| QuickStartParameters::for_rate(rate).code();
        assert_eq!(code(0), 1);
        assert_eq!(code(10_000), 1);
        assert_eq!(code(10_001), 2);
        assert_eq!(code(1_280_000), 8, "10.24 Mbit/s");
        assert_eq!(code(u64::MAX), 15);
    }
}
