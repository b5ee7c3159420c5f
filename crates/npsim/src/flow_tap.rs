//! The flow of each frame, for packet tables.

use npsim_chip::kernel::port_io::Arrival;
use npsim_net::order::identify::flow_text;
use npsim_observe::packets::Flows;
use npsim_session::links::Tap;

/// Records the flow of each arriving frame: the one in its stamp if it has one, else the one that
/// its headers give.
#[derive(Clone, Debug)]
pub struct FlowTap(Flows);

impl FlowTap {
    /// Records flows for the [`PacketRows`](npsim_observe::packets::PacketRows) that share them.
    #[must_use]
    pub fn new(flows: &Flows) -> Self {
        Self(flows.clone())
    }
}

impl Tap for FlowTap {
    fn arriving(&mut self, arrival: &Arrival) {
        self.0.put(arrival.frame, flow_text(&arrival.bytes));
    }
}
