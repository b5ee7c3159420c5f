//! `--hops`: the number of routers, and the names of the files that each of them writes.

use std::path::{Path, PathBuf};

use clap::Args;
use npsim::atomic_file::is_standard_output;
use npsim::session::MAX_ROUTERS;

use crate::cmd::value::threads;

/// The options of a chain.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "A chain of routers")]
pub struct HopsOptions {
    /// Put N routers in series: frames that leave through a port arrive at the same port of the next router (`npsim docs hops`)
    ///
    /// All routers run this project. Traffic arrives at the first one, --out captures
    /// what leaves the last one, --stats counts each of them. Outputs about a single
    /// chip, such as --timeline, are written for each router: `line.json` of router 2
    /// is `line.2.json`. The project's [chain] sets the delay of a link.
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=MAX_ROUTERS as i64))]
    hops: u16,
    /// How many routers run in parallel; results do not depend on it [default: one per core]
    #[arg(long, value_name = "T", requires = "hops", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl HopsOptions {
    /// The number of routers.
    pub fn hops(&self) -> usize {
        usize::from(self.hops)
    }

    /// The number of routers that run at a time.
    pub fn threads(&self) -> usize {
        threads(self.threads)
    }

    /// All routers.
    pub fn all(&self) -> impl Iterator<Item = RunRouter> + use<> {
        let several = self.hops > 1;
        (1..=self.hops()).map(move |number| RunRouter { number, several })
    }
}

/// One of the routers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRouter {
    /// The number of the router, from 1.
    pub number: usize,
    /// Whether there are other routers.
    pub several: bool,
}

impl RunRouter {
    /// The only router of a run.
    pub const ALONE: Self = Self {
        number: 1,
        several: false,
    };

    /// The file that the router writes for an option given as `path`: if there are several routers, its number is
    /// inserted before the file extensions.
    pub fn file(self, path: &Path) -> PathBuf {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let several = self.several && !is_standard_output(path);
        let Some(name) = name.filter(|_| several) else {
            return path.to_path_buf();
        };
        // A leading dot does not start an extension.
        let dot = name.get(1..).and_then(|rest| rest.find('.'));
        let (stem, endings) = name.split_at(dot.map_or(name.len(), |at| at + 1));
        path.with_file_name(format!("{stem}.{}{endings}", self.number))
    }

    /// The folder of the router's page.
    pub fn folder(self, folder: &Path) -> PathBuf {
        if self.several {
            folder.join(format!("router-{}", self.number))
        } else {
            folder.to_path_buf()
        }
    }

    /// The prefix of a line about the router.
    pub fn prefix(self) -> String {
        if self.several {
            format!("router {}: ", self.number)
        } else {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RunRouter;
    use std::path::Path;

    #[test]
    fn router_number_is_inserted_before_the_extensions() {
        let second = RunRouter {
            number: 2,
            several: true,
        };
        for (path, expected) in [
            ("line.json.gz", "line.2.json.gz"),
            ("out/flame.svg", "out/flame.2.svg"),
            (".hidden", ".hidden.2"),
            ("plain", "plain.2"),
        ] {
            assert_eq!(second.file(Path::new(path)), Path::new(expected));
        }
        let alone = RunRouter {
            number: 1,
            several: false,
        };
        assert_eq!(alone.file(Path::new("a.json")), Path::new("a.json"));
    }
}
