//! End hosts with congestion control: TCP with several controllers, and RCP, as state machines without
//! sockets, threads or clocks.
//!
//! An endpoint takes the time, incoming packets, and timers that it requested, and returns packets to
//! send. Streams have no stored bytes: the payload is a pattern derived from the sequence number. All
//! arithmetic uses integers, so the same inputs give the same packets on every machine, and all state
//! can be saved with serde and resumed exactly.
//!
//! [`wire`]: packets as values and as bytes. [`control`]: the control laws, behind one trait.
//! [`pacing`]: clocks and CPUs. [`rcp`]: its own transport. [`time`]: picoseconds. [`HostParameters`]
//! has every time that a host uses, so that a single factor can scale all.
//!
//! ```
//! use npsim_transport::wire::FlowEnds;
//! use npsim_transport::{
//!     HostParameters, Receiver, ReceiverParameters, Scheme, Sender, SenderParameters, Supply, time,
//! };
//!
//! let ends = FlowEnds {
//!     source: [10, 0, 0, 1].into(),
//!     destination: [10, 1, 0, 1].into(),
//!     source_port: 1024,
//!     destination_port: 5001,
//! };
//! let host = HostParameters::default();
//! let mut sender = Sender::new(&SenderParameters {
//!     host,
//!     scheme: Scheme::Reno,
//!     ends,
//!     supply: Supply::Bytes(100_000),
//!     seed: 1,
//! });
//! let mut receiver = Receiver::new(&ReceiverParameters {
//!     host,
//!     ends: ends.reversed(),
//!     reads_at_once: true,
//!     xcp_option: None,
//!     seed: 2,
//! });
//! // A path of 10 ms each way that loses nothing.
//! let (mut now, mut out) = (0, Vec::new());
//! sender.open(now, &mut out);
//! while sender.counters().completed_at.is_none() {
//!     let mut back = Vec::new();
//!     now += 10 * time::MILLISECOND;
//!     for packet in out.drain(..) {
//!         receiver.receive(now, &packet, &mut back);
//!     }
//!     now += 10 * time::MILLISECOND;
//!     for packet in back {
//!         sender.receive(now, &packet, &mut out);
//!     }
//! }
//! assert_eq!(receiver.counters().received, 100_000);
//! // The handshake, then windows of 3, 6, 12, 24 and the rest of 69 segments.
//! assert_eq!(now, 6 * 20 * time::MILLISECOND);
//! ```

pub mod control;
mod handshake;
mod host;
pub mod pacing;
pub mod rcp;
mod receiver;
mod scaling;
mod sender;
mod sequence;

pub mod wire;

pub use control::Scheme;
pub use host::{FullAck, HostParameters, PartialAck};
pub use npsim_protocols::round_trip::RtoParameters;
pub use npsim_protocols::time;
pub use receiver::{Receiver, ReceiverCounters, ReceiverParameters, ReceiverPhase, XcpAnswer};
pub use scaling::ScaleError;
pub use sender::{ConnectionPhase, Sender, SenderCounters, SenderParameters, SenderView, Supply};
