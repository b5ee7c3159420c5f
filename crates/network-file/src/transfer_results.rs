//! Results of transfers: bytes in each direction, completion times, and whether the data were
//! correct.

use npsim_network::counters::NetworkCounters;
use npsim_network::topology::Topology;
use npsim_stack::{EndCounters, StreamCounters};
use serde::Serialize;

use crate::unscaled::Unscaled;

/// A transfer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransferResult {
    /// The name.
    pub name: String,
    /// The client.
    pub from: String,
    /// The server.
    pub to: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// When the client connects.
    pub start_s: f64,
    /// Number of requests to be sent.
    pub requests: u64,
    /// Number of requests whose complete response the client has.
    pub answered: u64,
    /// Bytes delivered to either end during the measurement.
    pub delivered: u64,
    /// `delivered` as a rate.
    pub goodput_bps: f64,
    /// Time from its start until the client had the last response, if it has.
    pub completion_s: Option<f64>,
    /// Bytes from the client to the server, since the start.
    pub request: StreamResult,
    /// Bytes from the server to the client, since the start.
    pub response: StreamResult,
}

/// The outcome of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The client has all responses, byte for byte.
    Done,
    /// The connection is open.
    Open,
    /// There is no connection yet.
    Waiting,
    /// The connection ended prematurely.
    Broken,
    /// A byte arrived that was not sent.
    Corrupt,
}

/// Bytes in one direction of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamResult {
    /// Bytes that one end passed to its stack.
    pub sent: u64,
    /// Bytes that the other end's stack delivered, in order.
    pub delivered: u64,
    /// Delivered bytes that differ from those sent.
    pub wrong: u64,
    /// Position of the first of them, from 0 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<u64>,
    /// 64-bit FNV-1a digest of the bytes sent.
    pub sent_digest: String,
    /// The same digest of the bytes delivered.
    pub delivered_digest: String,
}

impl StreamResult {
    fn of(sent: &StreamCounters, delivered: &StreamCounters) -> Self {
        let digest = |stream: &StreamCounters| format!("{:016x}", stream.digest);
        Self {
            sent: sent.bytes,
            delivered: delivered.bytes,
            wrong: delivered.wrong,
            first_wrong: delivered.first_wrong,
            sent_digest: digest(sent),
            delivered_digest: digest(delivered),
        }
    }
}

impl Outcome {
    fn of(client: &EndCounters, server: &EndCounters) -> Self {
        if client.received.wrong + server.received.wrong > 0 {
            Self::Corrupt
        } else if client.completed_at.is_some() {
            Self::Done
        } else if client.broken || server.broken {
            Self::Broken
        } else if client.opened_at.is_some() {
            Self::Open
        } else {
            Self::Waiting
        }
    }

    /// Returns the name of the outcome.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Broken => "broken",
            Self::Corrupt => "corrupt",
        }
    }
}

/// Returns the results of a network's transfers.
pub(crate) fn of(
    topology: &Topology,
    counters: &NetworkCounters,
    unscaled: Unscaled,
) -> Vec<TransferResult> {
    let transfers = topology.transfers.iter().zip(&counters.transfers);
    let results = transfers.enumerate().map(|(number, (transfer, counted))| {
        let (client, server) = (&counted.client, &counted.server);
        let name = |node: usize| topology.nodes[node].name.clone();
        let start = transfer.exchange.start;
        TransferResult {
            name: transfer.name.clone(),
            from: name(transfer.from),
            to: name(transfer.to),
            outcome: Outcome::of(client, server),
            start_s: unscaled.seconds(start),
            requests: transfer.exchange.requests,
            answered: client.messages,
            delivered: counted.delivered,
            goodput_bps: unscaled.rate(counters.transferred(number)),
            completion_s: { client.completed_at }
                .map(|at| unscaled.seconds(at.saturating_sub(start))),
            request: StreamResult::of(&client.sent, &server.received),
            response: StreamResult::of(&server.sent, &client.received),
        }
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrupt_outweighs_done_and_done_outweighs_broken() {
        let end = |completed: bool, wrong, broken| EndCounters {
            opened_at: Some(1),
            completed_at: completed.then_some(2),
            broken,
            received: StreamCounters {
                wrong,
                ..StreamCounters::default()
            },
            ..EndCounters::default()
        };
        let rows = [
            (end(true, 0, false), end(true, 0, false), Outcome::Done),
            (end(true, 1, false), end(true, 0, false), Outcome::Corrupt),
            (end(true, 0, false), end(true, 1, true), Outcome::Corrupt),
            (end(true, 0, false), end(true, 0, true), Outcome::Done),
            (end(false, 0, false), end(false, 0, true), Outcome::Broken),
            (end(false, 0, false), end(false, 0, false), Outcome::Open),
            (
                EndCounters::default(),
                EndCounters::default(),
                Outcome::Waiting,
            ),
        ];
        for (client, server, outcome) in rows {
            assert_eq!(Outcome::of(&client, &server), outcome);
        }
    }
}
