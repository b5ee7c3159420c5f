//! A separate folder for each test, in which the command is run.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use npsim::profile::Profile;
use npsim_strategy::NEWEST;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A shipped chip with microengines of the newest generation, which support every instruction.
pub fn newest(chip: &str) -> Profile {
    let text = Profile::text(chip).expect("a shipped chip");
    let own = format!(
        "generation = \"{}\"",
        Profile::load(chip).expect("it loads").generation()
    );
    assert!(text.contains(&own));
    let newest = format!("generation = \"{}\"", NEWEST.generation);
    Profile::from_toml(&text.replace(&own, &newest)).expect("a chip")
}

/// A temporary folder in which the command runs.
pub struct Dir(tempfile::TempDir);

/// The result of a command.
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Dir {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A project whose core runs a test program of `npsim-xscale`, with the given keys in its section, beside an idle
    /// microengine.
    pub fn core_program(program: &str, keys: &str) -> Self {
        let elf = root().join(format!("crates/xscale/tests/programs/{program}.elf"));
        let project = format!(
            "name = \"{program}\"\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = 0\nsource = \"a.uc\"\n\
             [[port]]\nrate = \"1Gbps\"\n[gpp.program]\nelf = \"program.elf\"\n{keys}"
        );
        Self::new()
            .with("program.elf", std::fs::read(elf).expect("the program"))
            .with("a.uc", "ctx_arb[kill]\n")
            .with("npsim.toml", project)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns the folder, for chaining.
    pub fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        std::fs::write(path, contents).expect("write the file");
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of the files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.0.path())
            .expect("list the folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// Runs `npsim` with arguments that are separated by spaces.
    pub fn npsim(&self, arguments: &str) -> CommandOutput {
        let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(self.0.path())
            .args(arguments.split_whitespace())
            .output()
            .expect("run npsim");
        CommandOutput {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl CommandOutput {
    /// Checks the exit code and that each phrase is in the output or the messages.
    #[track_caller]
    pub fn expect(self, code: i32, phrases: &[&str]) -> Self {
        let (out, err) = (&self.out, &self.err);
        assert_eq!(self.code, code, "output:\n{out}\nmessages:\n{err}");
        for phrase in phrases {
            // Long lines are wrapped.
            let says = |text: &str| {
                text.contains(phrase)
                    || collapse_whitespace(text).contains(&collapse_whitespace(phrase))
            };
            assert!(
                says(out) || says(err),
                "no `{phrase}` in output:\n{out}\nmessages:\n{err}"
            );
        }
        assert!(!err.contains("panicked"), "{err}");
        assert!(
            !out.contains('\u{1b}') && !err.contains('\u{1b}'),
            "styles without a terminal"
        );
        self
    }
}

/// Text without its line breaks and without columns.
fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A classic pcap file, microseconds, little-endian, with frames of these
/// lengths at these microseconds.
pub fn pcap(link_type: u32, frames: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, link_type] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for (n, &(microseconds, length)) in frames.iter().enumerate() {
        for word in [1_700_000_000, microseconds, length, length] {
            bytes.extend(u32::to_le_bytes(word));
        }
        let mut frame = vec![n as u8; length as usize];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        bytes.extend(frame);
    }
    bytes
}

/// Context 0 counts down from `TURNS` and ends.
pub const COUNT: &str = "\
.num_contexts 8
.reg n
    br=ctx[0, go#]
    ctx_arb[kill]
go#:
    immed[n, TURNS]
again#:
    alu[n, n, -, 1]
    bne[again#]
    ctx_arb[kill]
";

/// Firmware that does nothing, forever.
pub const LOOP: &str = "here#:\n    ctx_arb[voluntary], br[here#]\n";
