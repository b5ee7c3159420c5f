//! Quick-Start (RFC 4782): a sender requests a rate from the routers of a path, in an IPv4
//! option.
//!
//! [`process`] is what a router does to a packet; [`GrantPool`] is the capacity that it grants
//! from; [`window`] keeps that capacity up to date. Rates are in units of 40 kbit/s, in which
//! rate code N (1 to 15) is 2^N and code 0 is nothing.

pub mod device;
pub mod keys;
pub mod option;
pub mod pool;
pub mod router;
pub mod task;
pub mod window;
mod words;

pub use option::{Malformed, QuickStartOption, find, nonce_mask, rate_units};
pub use pool::{GrantPool, PendingRequest, grant};
pub use router::{RequestOutcome, SlowPathReason, process};

/// Bits per second per unit of rate.
pub(crate) const UNIT_BITS_PER_SECOND: u64 = 40_000;

#[cfg(test)]
pub(crate) mod tests {
    /// Decodes hex digits.
    pub fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    }
}
