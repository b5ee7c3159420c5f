//! A program in the last profile of a run: how much of the time it and its macros took. `npsim run
//! --profile=profile.json` beside the project writes one.

use std::path::Path;
use std::time::SystemTime;

use npsim_image::same_file;
use npsim_project::files::Files as _;
use serde::Deserialize;

use super::analysis::Analysis;
use super::workspace::Workspace;

/// The displayed parts of a profile.
#[derive(Debug, Deserialize)]
struct File {
    cycles: u64,
    microengines: Vec<Spent>,
    stages: Vec<Stage>,
}

/// Cycles in which the pipeline was occupied, for a microengine or a macro.
#[derive(Debug, Deserialize)]
struct Spent {
    index: Option<u8>,
    name: Option<String>,
    issued: u64,
    aborted: u64,
    stalled: u64,
}

#[derive(Debug, Deserialize)]
struct Stage {
    source: String,
    microengines: Vec<u8>,
    macros: Vec<Spent>,
}

impl Spent {
    const fn cycles(&self) -> u64 {
        self.issued + self.aborted + self.stalled
    }
}

/// How the microengines of a program spent their time.
#[derive(Debug)]
pub struct Shares {
    /// Total cycles of all microengines that run it.
    all: u64,
    busy: u64,
    macros: Vec<Spent>,
    /// Whether a text of the program was changed after the run.
    old: bool,
}

impl Shares {
    /// The shares of a program; `None` if there is no profile that contains it.
    #[must_use]
    pub fn of(workspace: &Workspace, analysis: &Analysis) -> Option<Self> {
        let path = workspace.projects.profile(&analysis.root)?;
        let text = workspace.documents.files().read(&path).ok()?;
        let File {
            cycles,
            microengines,
            stages,
        } = serde_json::from_slice(&text).ok()?;
        let main = analysis.root.main.display().to_string();
        let stage = { stages.into_iter() }.find(|it| same_file(&main, &it.source))?;
        let ours = microengines.iter().filter(|it| {
            let index = it.index.as_ref();
            index.is_some_and(|index| stage.microengines.contains(index))
        });
        let changed = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
        let run = changed(&path).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut texts = analysis.definitions.keys();
        Some(Self {
            all: cycles * stage.microengines.len() as u64,
            busy: ours.map(Spent::cycles).sum(),
            macros: stage.macros,
            old: texts.any(|it| changed(it).is_some_and(|time| time > run)),
        })
    }

    fn text(&self, cycles: u64) -> String {
        let permille = (cycles * 1000 + self.all / 2) / self.all.max(1);
        let old = if self.old {
            " before the last change"
        } else {
            ""
        };
        format!("{}.{} % of the time{old}", permille / 10, permille % 10)
    }

    /// The share of the program.
    #[must_use]
    pub fn program(&self) -> String {
        self.text(self.busy)
    }

    /// The share of a macro's uses.
    #[must_use]
    pub fn macro_uses(&self, name: &str) -> Option<String> {
        let mut all = self.macros.iter();
        let spent = all.find(|it| it.name.as_deref() == Some(name))?;
        Some(self.text(spent.cycles()))
    }
}
