//! Networks of hosts with congestion control: end hosts, switches, links with queues, and routers, in one
//! deterministic packet simulation.
//!
//! A [`Topology`](topology::Topology) describes the network, a [`Simulation`] runs it from one time to the next, and
//! the difference of two [`NetworkCounters`](counters::NetworkCounters) is what happened in between. All events have
//! one total order, by time, node and kind, so that a run gives the same bytes on every machine and with steps of any
//! size; all state can be saved with serde.
//!
//! ```
//! use npsim_network::topology::{
//!     Flow, LineParameters, QueueLimit, Link, Node, NodeKind, Topology, Transport,
//! };
//! use npsim_network::{NoTap, Simulation};
//! use npsim_transport::{HostParameters, Scheme, Supply, time};
//!
//! let host = |name: &str, last| Node {
//!     name: name.to_owned(),
//!     kind: NodeKind::Host { address: [10, 0, 0, last].into() },
//! };
//! let mut line = LineParameters::new(10_000_000, 20 * time::MILLISECOND);
//! line.queue.limit = QueueLimit::Packets(30);
//! let topology = Topology {
//!     nodes: vec![host("a", 1), host("b", 2)],
//!     links: vec![Link { name: "wire".to_owned(), ends: [0, 1], lines: [line.clone(), line] }],
//!     flows: vec![Flow {
//!         name: "download".to_owned(),
//!         from: 0,
//!         to: 1,
//!         start: 0,
//!         ttl: None,
//!         transport: Transport::Tcp {
//!             scheme: Scheme::Reno,
//!             host: HostParameters::default(),
//!             supply: Supply::Endless,
//!             xcp_option: None,
//!         },
//!     }],
//!     seed: 1,
//!     ..Topology::default()
//! };
//! let mut simulation = Simulation::new(topology).expect("hosts that reach each other");
//! simulation.run_to(5 * time::SECOND, &mut NoTap);
//! let begin = simulation.counters();
//! simulation.run_to(20 * time::SECOND, &mut NoTap);
//! let line = simulation.counters().since(&begin).lines[0];
//! assert!(line.utilisation() > 0.9, "{}", line.utilisation());
//! ```

pub mod chips;
pub mod counters;
pub mod ethernet;
mod event;
mod frame;
mod host;
mod law;
mod line;
mod link_header;
mod network;
mod reorder_buffer;
pub mod routes;
mod simulation;
mod snapshot;
pub mod stack_addresses;
mod stacks;
mod tap;
pub mod topology;
mod work_slices;

pub use frame::{Content, Frame};
pub use host::{FlowState, FlowView};
pub use line::DropReason;
pub use network::{Network, Progress, Stopped};
pub use routes::UnreachableFlow;
pub use simulation::{InjectError, NetworkError, OutgoingFrame, Simulation};
pub use snapshot::Snapshot;
pub use tap::{NoTap, SenderSnapshot, Tap};
