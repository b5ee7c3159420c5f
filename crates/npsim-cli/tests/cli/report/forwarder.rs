//! Copies of the forwarder with more work for each packet.

use std::path::Path;

use super::{root, run_output};

/// A copy of the forwarder with additional declarations, set-up code and project sections, in which each packet goes
/// through `work` on its way out.
#[derive(Clone)]
pub struct Forwarder {
    pub declare: &'static str,
    pub set_up: &'static str,
    pub first: &'static str,
    pub work: String,
    pub project: &'static str,
}

/// Work that takes a hundred cycles or more and has no other effect.
pub const READ: &str = "    sram[read, $entry, next_hops, 0, 1], ctx_swap[fetched]\n";

/// The place where a complete packet is handed to the transmit stage.
pub const TURN: &str = "    ctx_arb[out]\n    br_inp_state[TX_RING_STATUS, congested#]\n";

impl Forwarder {
    /// The report of a run at line rate with these settings, and the number of frames that left
    /// within its time.
    pub fn run(&self, settings: &[&str]) -> (String, u64) {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        self.write(&project);
        let stats = folder.path().join("stats.json");
        let arguments = ["--load", "1", "--time", "400us", "--until", "400us"];
        let stats_option = ["--stats", stats.to_str().unwrap()];
        let settings: Vec<&str> = settings.iter().flat_map(|it| ["--set", it]).collect();
        let text = run_output(
            project.to_str().unwrap(),
            &[&arguments[..], &stats_option, &settings].concat(),
            &folder.path().join("report"),
        );
        let stats = std::fs::read_to_string(stats).unwrap();
        let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
        let sent = stats["packets"]["sent"].as_u64().unwrap();
        let from = text.find("bottleneck ").expect("a bottleneck");
        (text[from..].to_owned(), sent)
    }

    fn write(&self, project: &Path) {
        std::fs::create_dir(project).unwrap();
        let forward = root().join("microcode/forward");
        std::fs::copy(forward.join("transmit.uc"), project.join("transmit.uc")).unwrap();
        std::fs::write(project.join("forward.uc"), self.source()).unwrap();
        let text = std::fs::read_to_string(forward.join("npsim.toml")).unwrap();
        let library = root().join("microcode/lib").canonicalize().unwrap();
        let text = text.replace("../lib", library.to_str().unwrap());
        std::fs::write(project.join("npsim.toml"), text + self.project).unwrap();
    }

    /// The source of the receive stage.
    pub fn source(&self) -> String {
        let forward = root().join("microcode/forward");
        let source = std::fs::read_to_string(forward.join("forward.uc")).unwrap();
        source
            .replace(
                ".reg read $link $entry\n",
                &format!(".reg read $link $entry\n{}", self.declare),
            )
            .replace(
                "    immed[spare, 0]\n    receive_ticket",
                &format!("{}    immed[spare, 0]\n    receive_ticket", self.set_up),
            )
            .replace(
                "    turn_start(ask)\n",
                &format!("{}    turn_start(ask)\n", self.first),
            )
            .replace(TURN, &self.work)
    }
}
