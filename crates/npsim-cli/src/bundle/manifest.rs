//! The contents of `bundle.json`.

use std::path::Path;

use npsim::problem::Problem;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of the format.
pub const SCHEMA: &str = "npsim-bundle-1";
/// The prefix common to all versions of the format.
const SCHEMAS: &str = "npsim-bundle-";

/// A bundle's table of contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the format.
    pub schema: String,
    /// The build of npsim that made it.
    pub made_by: Build,
    /// The command to run.
    pub request: Request,
    /// The files that the command reads.
    pub inputs: Vec<PackedFile>,
    /// The outcome of the command.
    pub outcome: Outcome,
}

/// A command, and the folders that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The command line after `npsim`; its paths lead to files of the bundle.
    pub command: Vec<String>,
    /// The folder of the bundle in which the command runs; empty for the uppermost.
    pub folder: String,
    /// Folders that exist, whether or not they contain files.
    pub folders: Vec<String>,
}

/// A build of npsim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The version.
    pub version: String,
    /// The identifier of the model, which covers everything that determines the result of a run.
    pub model: String,
    /// The target processor and operating system.
    pub system: String,
}

/// A file, identified by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackedFile {
    /// The path below the bundle's top folder, separated by `/`.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// How it ended: `exit code 1`, or the signal.
    pub ended: String,
    /// Standard output, without parts that depend on the host.
    pub stdout: PackedFile,
    /// Standard error, likewise.
    pub stderr: PackedFile,
    /// The files that it wrote or changed.
    pub outputs: Vec<PackedFile>,
}

impl Build {
    /// The running build.
    pub fn own() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: npsim::lab::task::MODEL.to_owned(),
            system: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        }
    }
}

impl PackedFile {
    /// Describes a file with this content.
    pub fn of(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            path: path.into(),
            bytes: bytes.len() as u64,
            sha256: format!("{:x}", Sha256::digest(bytes)),
        }
    }
}

impl Manifest {
    /// Reads `bundle.json` of the bundle at `path`.
    ///
    /// # Errors
    /// Returns an error if it is no manifest, or one of another version of the format.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Problem> {
        let shown = path.display();
        let damaged = |error: serde_json::Error| {
            Problem::new(format!("`bundle.json` of `{shown}` is damaged: {error}"))
                .help("use an intact copy, or make the bundle again")
        };
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(damaged)?;
        let schema = value["schema"].as_str().unwrap_or_default();
        if schema != SCHEMA {
            let by = value["made_by"]["version"].as_str().unwrap_or("?");
            return Err(if schema.starts_with(SCHEMAS) {
                Problem::new(format!(
                    "the bundle `{shown}` has the format `{schema}`, and this npsim reads `{SCHEMA}`"
                ))
                .help(format!("npsim {by} made it; replay it with that version"))
            } else {
                Problem::new(format!(
                    "`bundle.json` of `{shown}` was not written by npsim"
                ))
                .help("name a file that `npsim bundle make` has written")
            });
        }
        serde_json::from_value(value).map_err(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::{Manifest, PackedFile};
    use std::path::Path;

    #[test]
    fn packed_file_has_its_size_and_sha256() {
        let file = PackedFile::of("a", b"npsim\n");
        assert_eq!(file.bytes, 6);
        assert_eq!(
            PackedFile::of("a", b"").sha256,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn other_schema_version_is_refused_with_both_versions() {
        let text = br#"{"schema": "npsim-bundle-9", "made_by": {"version": "7.0.0"}}"#;
        let problem = Manifest::parse(Path::new("a"), text).unwrap_err();
        let said = format!("{problem:?}");
        for phrase in ["npsim-bundle-9", "npsim-bundle-1", "npsim 7.0.0"] {
            assert!(said.contains(phrase), "{said}");
        }
        for other in [&b"{}"[..], b"[]", b"nonsense", b"{\"schema\": 3}"] {
            assert!(Manifest::parse(Path::new("a"), other).is_err());
        }
    }
}
