//! Hosts with a third-party TCP/IP stack, smoltcp, on virtual time: frames go in and out, and clients
//! and servers exchange bytes that both of them know.
//!
//! The behaviour depends only on the times at which a host receives frames and is polled. There are no
//! clocks, no threads, and no randomness besides the seed.
//!
//! ```
//! use npsim_protocols::time::{MICROSECOND, SECOND};
//! use npsim_stack::{Exchange, Host, HostAddress, Role, Task};
//!
//! let exchange = Exchange {
//!     start: 0,
//!     request: 200,
//!     response: 1_000_000,
//!     requests: 3,
//!     gap: 0,
//!     buffer: 65_536,
//! };
//! let host = |last: u8, role, peer: u8| {
//!     let address = HostAddress {
//!         mac: [2, 0, 0, 0, 0, last],
//!         address: [10, 0, 0, last].into(),
//!         prefix: 24,
//!         gateway: None,
//!         permanent: Vec::new(),
//!     };
//!     let peer = [10, 0, 0, peer].into();
//!     Host::new(&address, &[Task { number: 0, role, exchange, peer }], 1)
//! };
//! let mut hosts = [host(1, Role::Client, 2), host(2, Role::Server, 1)];
//! // Each frame takes 10 us to the other host.
//! let mut on_the_way = Vec::new();
//! let mut now = 0;
//! while now < SECOND {
//!     let coming = std::mem::take(&mut on_the_way);
//!     for (to, frame) in coming {
//!         let to: usize = to;
//!         hosts[to].receive(frame);
//!     }
//!     for (number, host) in hosts.iter_mut().enumerate() {
//!         let mut sent = Vec::new();
//!         host.poll(now, &mut sent);
//!         on_the_way.extend(sent.into_iter().map(|frame| (1 - number, frame)));
//!     }
//!     now += 10 * MICROSECOND;
//! }
//! let (.., client) = hosts[0].ends().next().expect("an end");
//! assert_eq!((client.messages, client.received.bytes), (3, 3_000_000));
//! assert_eq!(client.received.wrong, 0);
//! ```

mod device;
mod host;
mod stream;
mod transfer;

pub use host::{Host, HostAddress, Task};
pub use stream::StreamCounters;
pub use transfer::{EndCounters, Exchange, MAX_TRANSFERS, Role};
