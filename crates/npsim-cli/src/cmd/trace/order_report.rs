//! The packet order of a capture, as `npsim trace order` reports it.

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

/// The packet order of a capture, as printed.
#[derive(Debug, Serialize)]
pub struct OrderReport {
    pub file: String,
    pub format: String,
    /// The number of frames in the file.
    pub frames: u64,
    pub by: IdentifiedBy,
    pub against: Option<String>,
    /// The number of frames that could not be identified.
    pub left_out: u64,
    /// The displacement threshold.
    pub threshold: u64,
    pub order: OrderMeasures,
    /// The flows, with `--each`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowReport>,
}

/// The packet order of one flow.
#[derive(Debug, Serialize)]
pub struct FlowReport {
    pub number: u32,
    pub name: String,
    pub order: OrderMeasures,
}
