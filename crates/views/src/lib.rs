//! What a run looks like: views of one stream of events.

pub mod bottleneck;
pub mod traffic_flow;
