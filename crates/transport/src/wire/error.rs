//! Errors in bytes, and in values that have no byte representation.

use thiserror::Error;

/// Why bytes are not a packet of a host, or why a packet has no byte representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// There are fewer bytes than the header or the length field requires.
    #[error("{what} needs {needed} bytes and has {have}")]
    Short {
        /// What is truncated.
        what: &'static str,
        /// Bytes required.
        needed: usize,
        /// Bytes present.
        have: usize,
    },
    /// The version is not 4.
    #[error("the IP version is {0}, not 4")]
    Version(u8),
    /// A header length below its minimum, or a congestion header of another format.
    #[error("{what} has the impossible length {length}")]
    Length {
        /// The header.
        what: &'static str,
        /// The length field in bytes.
        length: usize,
    },
    /// The checksum of a header or segment is wrong.
    #[error("the checksum of {0} is wrong")]
    Checksum(&'static str),
    /// A fragment: hosts here neither send nor reassemble any.
    #[error("the packet is a fragment")]
    Fragment,
    /// A protocol that no endpoint uses.
    #[error("no endpoint speaks protocol {0}")]
    Protocol(u8),
    /// An option without a length, or one that runs past the end of its header.
    #[error("option {kind} of {what} runs over the end of its header")]
    OptionOverrun {
        /// The header.
        what: &'static str,
        /// The option's kind.
        kind: u8,
    },
    /// A known option with an invalid length.
    #[error("option {kind} of {what} has the impossible length {length}")]
    OptionLength {
        /// The header.
        what: &'static str,
        /// The option's kind.
        kind: u8,
        /// The length found.
        length: u8,
    },
    /// A known option that occurs twice.
    #[error("option {kind} of {what} occurs twice")]
    DuplicateOption {
        /// The header.
        what: &'static str,
        /// The option's kind.
        kind: u8,
    },
    /// More options than fit into the header.
    #[error("the options take {needed} bytes; a TCP header has room for 40")]
    OptionsTooLong {
        /// Bytes of all options.
        needed: usize,
    },
    /// A packet longer than 65535 bytes.
    #[error("the packet would be {needed} bytes long; IPv4 ends at 65535")]
    TooLong {
        /// Bytes of the packet.
        needed: usize,
    },
}
