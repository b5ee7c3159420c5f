//! What a run looks like: views of one stream of events.

pub mod bottleneck;
pub mod context_lanes;
pub mod fingerprint;
pub mod page;
pub mod traffic_flow;
