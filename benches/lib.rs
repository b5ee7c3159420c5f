//! Workloads of the benches.

use std::path::{Path, PathBuf};

use npsim::assemble::{Program, assemble_project};
use npsim::project::{Overrides, Project};
use npsim_net::Frame;

/// The repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Loads and assembles a project or a source of the repository.
///
/// # Panics
/// It does not load or assemble: a bench cannot go on.
#[must_use]
pub fn load(target: &Path, defines: &[(String, String)]) -> (Project, Vec<Program>) {
    let overrides = Overrides {
        defines: defines.to_vec(),
        ..Overrides::default()
    };
    let project = Project::load(target, &overrides).expect("the project is in the repository");
    let (programs, messages) = assemble_project(&project);
    (
        project,
        programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n"))),
    )
}

/// UDP frames of 64 bytes with their check sequence, toward all the routes.
#[must_use]
pub fn smallest_frames(count: usize) -> Vec<Frame> {
    (0..count)
        .map(|n| {
            let mut bytes = vec![0u8; 60];
            bytes[..12].copy_from_slice(&[2, 0, 0x5e, 0, 0, 0, 2, 0, 0, 0, 0, 9]);
            bytes[12..24].copy_from_slice(&[
                8,
                0,
                0x45,
                0,
                0,
                46,
                (n >> 8) as u8,
                n as u8,
                0,
                0,
                64,
                17,
            ]);
            bytes[26..30].copy_from_slice(&[10, 9, 0, (n % 250) as u8 + 1]);
            bytes[30..34].copy_from_slice([&[10, 1, 7, 7], &[10, 2, 7, 7], &[192, 0, 2, 7]][n % 3]);
            let sum: u32 = bytes[14..34]
                .chunks(2)
                .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                .sum();
            let folded = (sum & 0xffff) + (sum >> 16);
            bytes[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
            Frame {
                time_ns: 0,
                port: 0,
                original_len: 60,
                bytes,
            }
        })
        .collect()
}
