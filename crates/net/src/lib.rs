//! Frames in and out of the emulator: reads captures ([`capture`]) and places their frames on the
//! wires of ports ([`pace`]), generates traffic ([`load`]), and writes the frames that the chip
//! sends as captures ([`egress`]).
//!
//! The crate does not depend on any chip. Times are integers: nanoseconds in captures, picoseconds
//! on wires.
//!
//! ```
//! use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};
//! use npsim_net::Frame;
//!
//! let frames = vec![Frame { time_ns: 0, port: 0, bytes: vec![0; 60], original_len: 60 }; 2];
//! let gigabit = [PortLine { bits_per_second: 1_000_000_000 }];
//! let plan = schedule(&frames, &gigabit, PortAssignment::default(), Pace::Line)?;
//! // 84 bytes of wire time each: preamble 8, frame 60, FCS 4, gap 12.
//! assert_eq!(plan.arrivals[1].start_ps, 672_000);
//! # Ok::<(), npsim_net::pace::PaceError>(())
//! ```

pub mod capture;
pub mod census;
pub mod compression;
pub mod egress;
pub mod ethernet;
mod frame;
pub mod inputs;
pub mod load;
mod option_codes;
pub mod order;
pub mod pace;
pub mod quantity;
mod random;
mod ratio;
pub mod recording;
pub mod standard_output;
mod transport_checksum;

pub use frame::{Frame, LineFrame};
pub use random::Random;
pub use ratio::{Ratio, RatioError};
