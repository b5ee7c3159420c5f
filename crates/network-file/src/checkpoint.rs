//! Checkpoints of networks: a run saved to a file, from which another process can continue exactly.
//!
//! The file has the same structure as that of other runs ([`npsim_session::checkpoint`]), with a kind
//! of its own. Its state consists of the hosts, links, queues and packet-level routers with
//! everything in flight between them and every random stream, the complete state of each chip, and
//! the counters of its run; none of it is read again from elsewhere.

use std::path::Path;

use npsim_net::egress::Position;
use npsim_network::counters::NetworkCounters;
use npsim_network::{Network, Snapshot};
use npsim_project::problem::Problem;
use npsim_session::checkpoint::inputs::{self, CheckpointInput};
use npsim_session::checkpoint::{CheckpointFile, CheckpointKind, RunOrigin, mismatch_problem};
use serde::{Deserialize, Serialize};

pub use crate::run_progress::NetworkProgress;

/// Positions of the output files that are written during a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outputs {
    /// Samples over time, if they are written.
    pub series: Option<Position>,
    /// Captures of links, by file in the order of the command line.
    pub captures: Vec<Position>,
}

impl npsim_session::checkpoint::Outputs for Outputs {
    const KIND: CheckpointKind = CheckpointKind::Network;
}

/// A network run at one time, in picoseconds.
pub type Checkpoint = CheckpointFile<Outputs>;

/// Saves a run. `outputs` are on the disk up to their positions; `host_nanoseconds` is the wall time
/// that it has taken so far.
///
/// # Errors
/// Returns an error if the state cannot be encoded.
pub fn take(
    origin: &RunOrigin,
    network: &mut Network,
    run_progress: &NetworkProgress,
    outputs: Outputs,
    host_nanoseconds: u64,
) -> Result<Checkpoint, Problem> {
    let state = (network.snapshot()?, run_progress);
    Checkpoint::of(origin, run_progress.now, host_nanoseconds, outputs, &state)
}

/// Restores the state of a checkpoint into a network that was created from the same inputs and has
/// not run yet. Returns the progress of the run.
///
/// # Errors
/// Returns an error if it is not a state of such a network.
pub fn restore(checkpoint: &Checkpoint, network: &mut Network) -> Result<NetworkProgress, Problem> {
    // The chips, and the network between them.
    let parts = network.chips().len() as u64 + 1;
    let (snapshot, run_progress): (Snapshot, NetworkProgress) =
        checkpoint.state(network.memory_bytes(), parts)?;
    let counters = network.packet_simulation().counters();
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
    if run_progress.every == 0
        || !like(&run_progress.begin)
        || !run_progress.sampled.iter().all(like)
    {
        return Err(mismatch_problem("what it counted is of another network"));
    }
    network
        .restore(snapshot)
        .map_err(|reason| mismatch_problem(&reason))?;
    if run_progress.now != checkpoint.time() {
        return Err(mismatch_problem(
            "its state is not of the time that it states",
        ));
    }
    Ok(run_progress)
}

/// Returns the inputs of a network: its file with the settings, and the chips with their programs. It
/// must not have run yet: the state of its chips then contains everything that options and tables put
/// into them.
///
/// # Errors
/// Returns an error if the state of a chip cannot be encoded.
pub fn checkpoint_inputs(
    path: &Path,
    text: &[u8],
    network: &Network,
) -> Result<Vec<CheckpointInput>, Problem> {
    let shown = path.display();
    let mut list = vec![CheckpointInput::new(
        format!("the network file `{shown}`"),
        text,
    )];
    let topology = network.packet_simulation().topology();
    let mut start =
        postcard::to_stdvec(topology).map_err(|error| Problem::new(error.to_string()))?;
    for (name, system, chip) in network.chips() {
        let of_chip = inputs::of_system(&system.project, &system.programs);
        list.extend(of_chip.into_iter().map(|input| CheckpointInput {
            what: format!("of the router `{name}`, {}", input.what),
            ..input
        }));
        let state = chip.save();
        start.extend(state.map_err(|error| Problem::new(error.to_string()))?);
    }
    list.push(CheckpointInput::new(inputs::INITIAL_STATE, start));
    Ok(list)
}
