//! Damaged and unsuitable files.

use std::path::PathBuf;
use std::sync::LazyLock;

use npsim::assemble::{Program, assemble_project};
use npsim::checkpoint::{Checkpoint, CheckpointKind, RunOrigin};
use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::session::{Endpoints, Plan, Session};
use npsim::simulation::{RunSettings, Simulation};
use proptest::prelude::*;

use super::root;

/// A small system.
fn system() -> (Project, Vec<Program>) {
    let target = root().join("crates/systems/tests/firmware/sram_ring.toml");
    let project = Project::load(&target, &Overrides::default(), &npsim::registry()).unwrap();
    let programs = assemble_project(&project).0.unwrap();
    (project, programs)
}

struct Saved {
    folder: tempfile::TempDir,
    /// The file.
    bytes: Vec<u8>,
    /// The state in it, as the chip writes it.
    state: Vec<u8>,
    fresh: Simulation,
}

static SAVED: LazyLock<Saved> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let (project, programs) = system();
    let settings = RunSettings::new(ENGINE);
    let fresh = Simulation::new(&project, &programs, settings.clone()).unwrap();
    let plan = Plan::one(project, programs, settings);
    let mut run = Session::new(&plan, Endpoints::default()).unwrap();
    assert_eq!(run.step(3_000), None);
    Checkpoint::take(&RunOrigin::default(), &mut run, 0)
        .unwrap()
        .write(&path)
        .unwrap();
    Saved {
        bytes: std::fs::read(&path).unwrap(),
        state: run.node(0).chip().save().unwrap(),
        folder,
        fresh,
    }
});

/// The result of reading these bytes.
fn read(bytes: &[u8]) -> Result<(), String> {
    static FILES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = FILES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path: PathBuf = SAVED.folder.path().join(format!("other{number}"));
    std::fs::write(&path, bytes).unwrap();
    let result = Checkpoint::read(&path);
    std::fs::remove_file(&path).unwrap();
    result.map(drop).map_err(|problem| problem.message)
}

#[test]
fn whole_checkpoint_is_read() {
    assert_eq!(read(&SAVED.bytes), Ok(()));
    let mut fresh = SAVED.fresh.clone();
    fresh.restore(&SAVED.state).unwrap();
    assert_eq!(fresh.save().unwrap(), SAVED.state);
}

#[test]
fn foreign_or_damaged_files_are_refused() {
    for (bytes, expected) in [
        (&b""[..], "not a checkpoint"),
        (b"[chip]\n", "not a checkpoint"),
        (&CheckpointKind::Run.magic(), "damaged"),
        (
            &CheckpointKind::Network.magic(),
            "a checkpoint of `npsim network`",
        ),
        (&SAVED.bytes[..20], "damaged"),
        (&SAVED.bytes[..SAVED.bytes.len() - 1], "damaged"),
    ] {
        let message = read(bytes).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let mut newer = SAVED.bytes.clone();
    newer[8] = 200;
    let message = read(&newer).unwrap_err();
    assert!(
        message.contains("format 200, written by a newer"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn corrupted_or_truncated_checkpoint_is_refused(at in any::<prop::sample::Index>(), flip in 1..=255u8, cut in any::<bool>()) {
        let mut bytes = SAVED.bytes.clone();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= flip;
        }
        prop_assert!(read(&bytes).is_err());
    }

    /// Past the checksum: whatever the bytes are, the chip accepts or rejects them. No length in
    /// them makes it allocate more than they hold.
    #[test]
    fn forged_state_is_accepted_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 1..6usize), 1..8),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut state = SAVED.state.clone();
        for (at, value, run) in changes {
            // Runs of set bits make large numbers, from which lengths are read.
            let at = at.index(state.len());
            let end = (at + run).min(state.len());
            state[at..end].fill(value);
        }
        if let Some(cut) = cut {
            state.truncate(cut.index(SAVED.state.len()));
        }
        let mut simulation = SAVED.fresh.clone();
        if simulation.restore(&state).is_err() {
            prop_assert_eq!(simulation.save(), SAVED.fresh.save(), "a refused state leaves nothing");
        }
    }
}
