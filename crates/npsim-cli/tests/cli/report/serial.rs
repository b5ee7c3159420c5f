//! Sections that one context at a time goes through: what holds them is the limit, their lines
//! and their length are reported, and the length moves the throughput while equal work outside of
//! them does not.

use std::path::Path;

use super::{root, shown};

/// A copy of the forwarder with more declarations, more to set up, in which each packet goes through
/// `work` on its way out, and with more sections of the project file.
struct Forwarder {
    declare: &'static str,
    set_up: &'static str,
    first: &'static str,
    work: String,
    project: &'static str,
}

/// What takes a hundred cycles and more, and leaves nothing behind.
const READ: &str = "    sram[read, $entry, next_hops, 0, 1], ctx_swap[fetched]\n";

/// Where a whole packet is given to the transmit stage.
const TURN: &str = "    ctx_arb[out]\n    br_inp_state[TX_RING_STATUS, congested#]\n";

impl Forwarder {
    /// What the report says of a run at line rate, and how many frames left in its time.
    fn run(&self) -> (String, u64) {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        self.write(&project);
        let stats = folder.path().join("stats.json");
        let arguments = ["--load", "1", "--time", "400us", "--until", "400us"];
        let stats_option = ["--stats", stats.to_str().unwrap()];
        let text = shown(
            project.to_str().unwrap(),
            &[&arguments[..], &stats_option].concat(),
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
        let source = std::fs::read_to_string(forward.join("forward.uc")).unwrap();
        let edited = source
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
            .replace(TURN, &self.work);
        std::fs::write(project.join("forward.uc"), edited).unwrap();
        let text = std::fs::read_to_string(forward.join("npsim.toml")).unwrap();
        let library = root().join("microcode/lib").canonicalize().unwrap();
        let text = text.replace("../lib", library.to_str().unwrap());
        std::fs::write(project.join("npsim.toml"), text + self.project).unwrap();
    }
}

/// Work before a section, in it, and behind it: `enter` and `leave` stand around the second.
fn section(enter: &str, leave: &str, reads: [usize; 2]) -> String {
    let [before, inside] = reads.map(|count| READ.repeat(count));
    format!("{before}{enter}{inside}{leave}")
}

/// The limit is what is held, and not the stage; the length of the section is what counts.
fn is_the_limit(name: &str, in_order: bool, forwarder: impl Fn([usize; 2]) -> Forwarder) {
    let (text, sent) = forwarder([0, 4]).run();
    let headline = text.lines().next().unwrap();
    assert!(
        headline.contains(&format!("{name} is the limit: it is held or handed over 9"))
            || headline.contains(&format!(
                "{name} is the limit: it is held or handed over 100"
            )),
        "{text}"
    );
    for part in [
        "forward.uc:",
        "A section takes ",
        "More microengines do not help",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("run forward.uc on more"), "{text}");
    // No more sections than that leave as frames, and hardly fewer.
    let (_, most) = text.split_once("so there are at most ").unwrap();
    let (most, _) = most.split_once(" sections a second").unwrap();
    let most: u64 = most.replace(',', "").parse().unwrap();
    let rate = sent * 10_000 / 4;
    assert!(
        rate <= most + most / 20 && rate * 5 >= most * 4,
        "{rate} of {most}"
    );
    // A fifth more of it is felt.
    let (_, longer) = forwarder([0, 5]).run();
    assert!(longer * 100 < sent * 92, "{sent}, then {longer}");
    // The same work outside is not, where the order in which contexts come does not change by it.
    if in_order {
        let (_, outside) = forwarder([1, 4]).run();
        assert!(outside * 100 > sent * 96, "{sent}, then {outside}");
    }
    // And a section that is short enough is none.
    let (text, _) = forwarder([0, 0]).run();
    assert!(!text.contains(&format!("{name} is the limit")), "{text}");
}

#[test]
fn turn_that_is_held_over_lookups_is_the_limit() {
    is_the_limit("The turn `out`", true, |reads| Forwarder {
        declare: "",
        set_up: "",
        first: "",
        work: section(
            "    ctx_arb[out]\n",
            "    br_inp_state[TX_RING_STATUS, congested#]\n",
            reads,
        ),
        project: "",
    });
}

#[test]
fn token_of_a_ring_that_is_held_over_lookups_is_the_limit() {
    let enter = "\
token#:
    scratch[get, $entry, token_ring, 0, 1], ctx_swap[fetched]
    alu[--, --, B, $entry]
    beq[token#]
";
    let leave = format!(
        "    immed[$token, 1]\n    scratch[put, $token, token_ring, 0, 1], ctx_swap[fetched]\n{TURN}"
    );
    is_the_limit("The token of TOKEN (scratch ring 2)", true, |reads| {
        Forwarder {
            declare: ".reg write $token\n.reg token_ring\n",
            set_up: "    immed[token_ring, TOKEN]\n",
            first: "    immed[$token, 1]\n    scratch[put, $token, token_ring, 0, 1], ctx_swap[fetched]\n",
            work: section(enter, &leave, reads),
            project: "\n[[ring]]\nname = \"TOKEN\"\nsize = 128\n",
        }
    });
}

#[test]
fn lock_that_the_project_does_not_name_is_the_limit() {
    let enter = "\
lock#:
    immed[$held, 1]
    scratch[test_and_set, $held, lock_place, 0], ctx_swap[locked]
    br_bset[$held, 0, lock#]
";
    let leave = format!(
        "    immed[$free, 0]\n    scratch[write, $free, lock_place, 0, 1], ctx_swap[fetched]\n{TURN}"
    );
    is_the_limit("The lock in RECORD", false, |reads| Forwarder {
        declare: ".reg $held lock_place\n.reg write $free\n.sig locked\n",
        set_up: "    immed[lock_place, RECORD]\n",
        first: "",
        work: section(enter, &leave, reads),
        project: "\n[[memory]]\nname = \"RECORD\"\nspace = \"scratch\"\nsize = 4\n",
    });
}
