//! The Petri net of Govind, Govindarajan and Kuri (Packet Reordering in Network Processors), built
//! from its description in their text: an IXP2400 whose contexts move packets from RFIFO through
//! DRAM to TBUF, which is drained strictly in the order of its places.
//!
//! [`net`] is the simulator of timed coloured nets, [`router`] the net of one router, and [`chain`]
//! sends packets through several. The text gives no firing times; [`parameters::Parameters`] has
//! those used here, with their sources.
//!
//! ```
//! use npsim_net::order::THRESHOLD;
//! use npsim_petri::{chain, parameters::Parameters};
//!
//! let mut parameters = Parameters { packets: 4000, warm_up: 1000, ..Parameters::default() };
//! parameters.set("slots", "strided")?;
//! let one = chain::run(&parameters, 1)?;
//! assert!(one.order.total(THRESHOLD).duplicate_acks > 0);
//! # Ok::<(), String>(())
//! ```

pub mod chain;
pub mod net;
pub mod parameters;
pub mod router;
