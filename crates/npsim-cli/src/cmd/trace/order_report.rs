//! The order of the packets in a capture, as `npsim trace order` reports it.

use npsim_net::order::OrderMeasures;
use serde::Serialize;

/// The source of a packet's position in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentifiedBy {
    Against,
    Stamps,
    Tcp,
}

/// The order of the packets in a capture, as it is printed.
#[derive(Debug, Serialize)]
pub struct OrderReport {
    pub file: String,
    pub format: String,
    /// Frames of the file.
    pub frames: u64,
    pub by: IdentifiedBy,
    pub against: Option<String>,
    /// Frames of the file of which it is not known which packets they are.
    pub left_out: u64,
    /// The displacement threshold.
    pub threshold: u64,
    pub order: OrderMeasures,
    /// With `--each`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowReport>,
}

/// The order of the packets of one flow.
#[derive(Debug, Serialize)]
pub struct FlowReport {
    pub number: u32,
    pub name: String,
    pub order: OrderMeasures,
}
