//! Quick-Start (RFC 4782): the handshake asks the routers for a rate to begin with.

use npsim_net::Random;
use npsim_protocols::quick_start::{QuickStartOption, option, rate_units};
use serde::{Deserialize, Serialize};

use super::{ControlInputs, Controller, Reno, SendLimit};
use crate::host::HostParameters;
use crate::scaling::{ScaleError, divided};
use crate::wire::{Flags, Packet, QuickStartResponse};
use npsim_protocols::time::{self, SECOND, Time};

/// Bytes per second of a unit of rate, 40 kbit/s.
const UNIT: u64 = 5_000;
/// The greatest rate code.
const LARGEST_CODE: u8 = 15;

/// What a sender asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartParameters {
    /// The rate, bytes of IP per second; asked for is the next code that is no smaller.
    pub rate: u64,
    /// First timeout of a SYN with a request: 3 s.
    pub handshake_timeout: Time,
    /// Segments of window above which slow start is limited afterwards (RFC 3742).
    pub limited_slow_start: Option<u16>,
}

impl QuickStartParameters {
    /// A request of `rate` bytes per second with the RFCs' constants: 3 s, 100 segments.
    #[must_use]
    pub const fn for_rate(rate: u64) -> Self {
        Self {
            rate,
            handshake_timeout: 3 * SECOND,
            limited_slow_start: Some(100),
        }
    }

    /// The rate code that is asked for.
    #[must_use]
    pub fn code(&self) -> u8 {
        let enough = |&code: &u8| u64::from(rate_units(code).unsigned_abs()) * UNIT >= self.rate;
        (1..LARGEST_CODE).find(enough).unwrap_or(LARGEST_CODE)
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

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum RequestState {
    /// To be sent with the SYN.
    New,
    /// Sent, with this difference of TTLs.
    Asked { ttl_difference: u8, nonce: u32 },
    /// Answered, or not, by the SYN/ACK; the report of the code is to be sent with the next packet.
    Approved {
        code: u8,
        nonce: u32,
        reported: bool,
    },
    /// The first window is being sent at this rate, bytes per second.
    Paced { rate: u64 },
    /// What was sent up to here went out at the approved rate.
    Sent { end: u64 },
    /// No request, or nothing left to watch.
    Over,
}

/// Reno with a first window at a rate that the routers approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartControl {
    parameters: QuickStartParameters,
    reno: Reno,
    random: Random,
    state: RequestState,
}

impl QuickStartControl {
    /// The state before the handshake; `random` draws nonce and TTL.
    #[must_use]
    pub fn new(host: &HostParameters, parameters: QuickStartParameters, random: Random) -> Self {
        Self {
            parameters,
            reno: Reno::new(host),
            random,
            state: RequestState::New,
        }
    }

    /// Whether an answer proves what it says: the TTLs show that all routers took part, the rate is no
    /// higher, and the part of the nonce that a router leaves at that rate is what was sent.
    fn is_proved(&self, response: QuickStartResponse, ttl_difference: u8, nonce: u32) -> bool {
        let kept = (1_u32 << (2 * response.rate)) - 1;
        response.ttl_difference == ttl_difference
            && response.rate <= self.parameters.code()
            && (response.nonce ^ nonce) & kept == 0
    }

    /// A packet of the approved window was lost: as if there had been no Quick-Start.
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
                // The window becomes what was really sent in that time.
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
            // A SYN with options may be what was lost: the next one goes without.
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
    fn a_rate_is_asked_for_by_the_next_code() {
        let code = |rate| QuickStartParameters::for_rate(rate).code();
        assert_eq!(code(0), 1);
        assert_eq!(code(10_000), 1);
        assert_eq!(code(10_001), 2);
        assert_eq!(code(1_280_000), 8, "10.24 Mbit/s");
        assert_eq!(code(u64::MAX), 15);
    }
}
