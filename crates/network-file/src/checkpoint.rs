//! Checkpoints of networks: a run in a file, from which another process goes on as if nothing had
//! happened.
//!
//! A file is made as those of other runs are ([`npsim_session::checkpoint`]), of a kind of its own.
//! Its state has the hosts, links, queues and packet-level routers with all that is in flight between
//! them and every random stream, all of each chip, and what of its run was counted; nothing of it is
//! read again from elsewhere.

use std::path::Path;

use npsim_net::egress::Position;
use npsim_network::counters::NetworkCounters;
use npsim_network::{Network, Snapshot};
use npsim_project::problem::Problem;
use npsim_session::checkpoint::inputs::{self, CheckpointInput};
use npsim_session::checkpoint::{CheckpointFile, CheckpointKind, RunOrigin, foreign};
use serde::{Deserialize, Serialize};

pub use crate::standing::Standing;

/// How far the outputs of a run have come that are written while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outputs {
    /// Windows, rates and queues over time, if they are written.
    pub series: Option<Position>,
    /// Captures of links, by file in the order of the command.
    pub captures: Vec<Position>,
}

impl npsim_session::checkpoint::Outputs for Outputs {
    const KIND: CheckpointKind = CheckpointKind::Network;
}

/// A run of a network as it stood at one time, in picoseconds.
pub type Checkpoint = CheckpointFile<Outputs>;

/// Saves a run. `outputs` are on the disk up to there; `host_nanoseconds` is how long it took
/// until now.
///
/// # Errors
/// The state cannot be encoded.
pub fn take(
    origin: &RunOrigin,
    network: &mut Network,
    standing: &Standing,
    outputs: Outputs,
    host_nanoseconds: u64,
) -> Result<Checkpoint, Problem> {
    let state = (network.snapshot()?, standing);
    Checkpoint::of(origin, standing.now, host_nanoseconds, outputs, &state)
}

/// Puts the state of a checkpoint into a network that was made of the same inputs and has not run
/// yet. Gives where the run stands.
///
/// # Errors
/// The state is not one of such a network.
pub fn restore(checkpoint: &Checkpoint, network: &mut Network) -> Result<Standing, Problem> {
    // The chips, and what is between them.
    let parts = network.chips().len() as u64 + 1;
    let (snapshot, standing): (Snapshot, Standing) =
        checkpoint.state(network.memory_bytes(), parts)?;
    let counters = network.outside().counters();
    let like = |other: &NetworkCounters| {
        (
            other.lines.len(),
            other.flows.len(),
            other.transfers.len(),
            other.cpus.len(),
        ) == (
            counters.lines.len(),
            counters.flows.len(),
            counters.transfers.len(),
            counters.cpus.len(),
        )
    };
    if standing.every == 0 || !like(&standing.begin) || !standing.sampled.iter().all(like) {
        return Err(foreign("what it counted is of another network"));
    }
    network
        .restore(snapshot)
        .map_err(|reason| foreign(&reason))?;
    if standing.now != checkpoint.time() {
        return Err(foreign("its state is of another time than it says"));
    }
    Ok(standing)
}

/// What a network depends on: its file with the settings, and what its chips are and run. It has not
/// run yet: the state of its chips has everything that options and tables put into them.
///
/// # Errors
/// The state of a chip cannot be encoded.
pub fn inputs_of(
    path: &Path,
    text: &[u8],
    network: &Network,
) -> Result<Vec<CheckpointInput>, Problem> {
    let shown = path.display();
    let mut list = vec![CheckpointInput::new(
        format!("the network file `{shown}`"),
        text,
    )];
    let mut start = format!("{:?}", network.outside().topology()).into_bytes();
    for (name, system, chip) in network.chips() {
        let of_chip = inputs::of_system(&system.project, &system.programs);
        list.extend(of_chip.into_iter().map(|input| CheckpointInput {
            what: format!("of the router `{name}`, {}", input.what),
            ..input
        }));
        let state = chip.save();
        start.extend(state.map_err(|error| Problem::new(error.to_string()))?);
    }
    list.push(CheckpointInput::new(inputs::START, start));
    Ok(list)
}
