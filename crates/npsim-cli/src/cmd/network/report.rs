//! `--report`: the run as a page.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use npsim::problem::Problem;
use npsim::whole_file::WholeFile;
use npsim_network::results::Results;
use npsim_report::network_page::{self, Tracks};

use crate::cmd::run::report::page_path;

/// A page on its way: its place is there before the run, so that nothing is lost after it.
pub struct Report {
    path: PathBuf,
    out: WholeFile,
    /// What it draws.
    pub tracks: Tracks,
}

impl Report {
    /// Makes the folder and opens the page.
    pub fn create(folder: &Path) -> Result<Self, Problem> {
        std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
        let path = page_path(folder);
        let out = WholeFile::create(&path).map_err(|error| Problem::io("write", &path, &error))?;
        Ok(Self {
            path,
            out,
            tracks: Tracks::default(),
        })
    }

    /// Writes the page.
    pub fn finish(self, results: &Results) -> Result<(), Problem> {
        let page = network_page::render(results, &self.tracks)
            .map_err(|error| Problem::new(format!("the report could not be made: {error:#}")))?;
        let mut out = self.out;
        let written = out.write_all(page.as_bytes());
        written
            .and_then(|()| out.commit())
            .map_err(|error| Problem::io("write", &self.path, &error))
    }
}
