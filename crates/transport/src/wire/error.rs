//! What can be wrong with bytes, and with values that have no bytes.

use thiserror::Error;

/// Why bytes are no packet of a host, or why a packet has no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// Fewer bytes than the header or the length field needs.
    #[error("{what} needs {needed} bytes and has {have}")]
    Short {
        /// What is cut.
        what: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that are there.
        have: usize,
    },
    /// Not version 4.
    #[error("the IP version is {0}, not 4")]
    Version(u8),
    /// A header length below its least, or a congestion header of another form.
    #[error("{what} has the length {length}, which cannot be")]
    Length {
        /// The header.
        what: &'static str,
        /// The length field in bytes.
        length: usize,
    },
    /// The sum over header or segment is wrong.
    #[error("the checksum of {0} is wrong")]
    Checksum(&'static str),
    /// A fragment: hosts here never send nor join any.
    #[error("the packet is a fragment")]
    Fragment,
    /// A protocol that no endpoint speaks.
    #[error("no endpoint speaks protocol {0}")]
    Protocol(u8),
    /// An option without a length, or one that runs over the end of its header.
    #[error("option {kind} of {what} runs over the end of its header")]
    OptionOverrun {
        /// The header.
        what: &'static str,
        /// The option's kind.
        kind: u8,
    },
    /// A known option with a length that it cannot have.
    #[error("option {kind} of {what} has the length {length}, which it cannot have")]
    OptionLength {
        /// The header.
        what: &'static str,
        /// The option's kind.
        kind: u8,
        /// The length found.
        length: u8,
    },
    /// A known option that stands there twice.
    #[error("option {kind} of {what} stands there twice")]
    OptionTwice {
        /// The header.
        what: &'static str,
        /// The option's kind.
        kind: u8,
    },
    /// More options than the header holds.
    #[error("the options take {needed} bytes; a TCP header has room for 40")]
    OptionsTooLong {
        /// Bytes of all options.
        needed: usize,
    },
    /// A packet above 65535 bytes.
    #[error("the packet would be {needed} bytes long; IPv4 ends at 65535")]
    TooLong {
        /// Bytes of the packet.
        needed: usize,
    },
}
