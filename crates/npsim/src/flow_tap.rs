//! Which flow each frame is of, for tables of packets.

use npsim_chip::kernel::port_io::Arrival;
use npsim_net::order::identify::flow_text;
use npsim_observe::packets::Flows;
use npsim_session::links::Tap;

/// Notes the flows of frames as they come: their stamp's where they have one, else what their
/// headers say.
#[derive(Clone, Debug)]
pub struct FlowTap(Flows);

impl FlowTap {
    /// Notes them for [`PacketRows`](npsim_observe::packets::PacketRows) with the same flows.
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
