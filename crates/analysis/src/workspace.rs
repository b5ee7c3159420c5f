//! Open texts, projects and what is known about the programs that contain the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use npsim_asm::{SourceMap, Span};
use npsim_project::files::Overlay;
use npsim_project::includes::FileIncludes;

use super::analysis::Analysis;
use super::assembler::{Assembled, Job};
use super::definitions::Definitions;
use super::documents::Documents;
use super::paths::canonical;
use super::roots::{Projects, Root};
use super::settings::Settings;
use super::text::Text;

/// Open texts and the projects in reach, with all queries about them.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Open texts.
    pub(crate) documents: Documents,
    /// Projects in reach.
    pub(crate) projects: Projects,
    analyses: Vec<Analysis>,
    /// Number of roots read so far.
    readings: u64,
    /// The files of each project root, as far as they have been read.
    files: BTreeMap<usize, BTreeSet<PathBuf>>,
    stale: Stale,
    /// Whether a text has changed that a project may be read from.
    projects_stale: bool,
    changed: bool,
}

/// What has changed since the programs were read.
#[derive(Debug, Default)]
enum Stale {
    #[default]
    Nothing,
    /// These open texts.
    Texts(BTreeSet<PathBuf>),
    Everything,
}

/// A place in an open text, as the start of a query.
#[derive(Debug)]
pub struct Spot {
    /// The file.
    pub path: PathBuf,
    /// The text.
    pub text: Rc<Text>,
    /// The byte.
    pub offset: usize,
}

impl Workspace {
    /// No open texts, with the projects in these folders on disk.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>, settings: Settings) -> Self {
        Self::over(Overlay::default(), folders, settings)
    }

    /// No open texts, with the projects in these folders of files that need not be on disk.
    #[must_use]
    pub fn over(files: Overlay, folders: Vec<PathBuf>, settings: Settings) -> Self {
        let documents = Documents::over(files);
        Self {
            projects: Projects::new(folders, settings, &documents),
            documents,
            stale: Stale::Everything,
            ..Self::default()
        }
    }

    /// Changes the settings.
    pub fn set(&mut self, settings: Settings) {
        self.projects.set(settings);
        self.search();
    }

    /// Updates a text that was changed; `path` is canonical, as everywhere here.
    pub fn change(&mut self, path: &Path, text: String) {
        self.documents.open(path.to_path_buf(), text);
        if is_toml(path) {
            self.projects_stale = true;
            self.stale = Stale::Everything;
        }
        match &mut self.stale {
            Stale::Everything => {}
            Stale::Texts(texts) => {
                texts.insert(path.to_path_buf());
            }
            Stale::Nothing => self.stale = Stale::Texts(BTreeSet::from([path.to_path_buf()])),
        }
    }

    /// Closes an open text: the file on disk is used again.
    pub fn close(&mut self, path: &Path) {
        self.documents.close(path);
        self.projects_stale |= is_toml(path);
        self.stale = Stale::Everything;
    }

    /// Searches for projects again: files on disk have changed, perhaps project files.
    pub fn search(&mut self) {
        self.projects.search(&self.documents);
        self.projects_stale = false;
        self.files.clear();
        self.stale = Stale::Everything;
    }

    /// Opens a text, which replaces its file; the projects above it come into reach.
    pub fn open(&mut self, path: &Path, text: String) {
        self.documents.open(path.to_path_buf(), text);
        if self.projects.reach(path, &self.documents) {
            self.files.clear();
        }
        self.projects_stale |= is_toml(path);
        self.stale = Stale::Everything;
    }

    /// Updates everything except the assembler's results.
    pub fn refresh(&mut self) {
        let touched = match std::mem::take(&mut self.stale) {
            Stale::Nothing => return,
            Stale::Texts(texts) => Some(texts),
            Stale::Everything => None,
        };
        // A program is still valid if none of its texts has changed.
        let mut known = std::mem::take(&mut self.analyses);
        known.retain(|it| { touched.iter().flatten() }.all(|path| !it.has(path)));
        if touched.is_none() {
            known.clear();
        }
        if std::mem::take(&mut self.projects_stale) {
            self.projects.load(&self.documents);
            self.files.clear();
        }
        self.changed = true;
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        let mut alone: Vec<Root> = Vec::new();
        let open: Vec<PathBuf> = self.documents.paths().cloned().collect();
        for path in open.iter().filter(|path| !is_toml(path)) {
            let own: Vec<usize> = (0..self.projects.roots.len())
                .filter(|&root| self.projects.roots[root].main == *path)
                .collect();
            let mut found = !own.is_empty();
            wanted.extend(own);
            for root in 0..self.projects.roots.len() {
                if self.files_of(root).contains(path) {
                    wanted.insert(root);
                    found = true;
                }
            }
            if !found {
                alone.push(self.projects.single(path, &self.documents));
            }
        }
        // A library file that an open single source includes is analysed as part of that source.
        let mut analyses: Vec<Analysis> = Vec::new();
        for root in wanted {
            let found = &self.projects.roots[root];
            if let Some(analysis) = read(found, &mut known, &mut self.readings, &self.documents) {
                self.files
                    .insert(root, analysis.definitions.keys().cloned().collect());
                analyses.push(analysis);
            }
        }
        let singles: Vec<Analysis> = alone
            .iter()
            .filter_map(|root| read(root, &mut known, &mut self.readings, &self.documents))
            .collect();
        let by_another = |at: usize, analysis: &Analysis| {
            singles.iter().enumerate().any(|(other, by)| {
                other != at && by.has(&analysis.root.main) && {
                    // Of two that include each other, the first one stays.
                    !analysis.has(&by.root.main) || other < at
                }
            })
        };
        let included: Vec<bool> = { singles.iter().enumerate() }
            .map(|(at, analysis)| by_another(at, analysis))
            .collect();
        let alone = singles.into_iter().zip(included);
        analyses.extend(alone.filter_map(|(analysis, included)| (!included).then_some(analysis)));
        self.analyses = analyses;
    }

    /// Whether anything was updated since the last call.
    pub fn take_changed_flag(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Whether the assembler's results for all programs are available.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.analyses.iter().all(Analysis::is_complete)
    }

    /// Updates everything and assembles every program that contains an open text.
    pub fn assemble(&mut self) {
        self.refresh();
        while let Some(job) = self.job() {
            self.complete(job.run());
        }
    }

    /// The next program without results from the assembler.
    #[must_use]
    pub fn job(&self) -> Option<Job> {
        let open = self.analyses.iter().find(|it| !it.is_complete())?;
        Some(Job {
            number: open.number,
            root: open.root.clone(),
            files: self.documents.files().clone(),
        })
    }

    /// Adds the assembler's results, if the program is still the same.
    pub fn complete(&mut self, assembled: Assembled) {
        let mut analyses = self.analyses.iter_mut();
        if let Some(analysis) = analyses.find(|it| it.number == assembled.number) {
            analysis.complete(assembled);
        }
    }

    /// Whether the assembler's results for the programs that contain a file are available.
    #[must_use]
    pub fn is_assembled(&self, path: &Path) -> bool {
        self.analyses_of(path).all(Analysis::is_complete)
    }

    /// The files that a root reads.
    fn files_of(&mut self, root: usize) -> &BTreeSet<PathBuf> {
        let (documents, roots) = (&self.documents, &self.projects.roots);
        self.files
            .entry(root)
            .or_insert_with(|| files(&roots[root], documents))
    }

    /// The analyses of all programs that contain an open text.
    #[must_use]
    pub(crate) fn analyses(&self) -> &[Analysis] {
        &self.analyses
    }

    /// The analyses of the programs that contain a file.
    pub(crate) fn analyses_of(&self, path: &Path) -> impl Iterator<Item = &Analysis> {
        self.analyses
            .iter()
            .filter(move |analysis| analysis.has(path))
    }

    /// The files of all programs in reach that contain a file, as far as they have been read.
    pub(crate) fn files_with(&self, path: &Path) -> BTreeSet<PathBuf> {
        let of_roots = self.files.values().filter(|files| files.contains(path));
        let of_programs = self.analyses_of(path).flat_map(|it| it.definitions.keys());
        let mut all: BTreeSet<PathBuf> = of_roots.flatten().cloned().collect();
        all.extend(of_programs.cloned());
        all
    }

    /// The definitions that apply to a file, each with the file that contains
    /// it: its own and those of the programs that contain it.
    #[must_use]
    pub(crate) fn definitions(&self, path: &Path, text: &Text) -> Vec<(PathBuf, Rc<Definitions>)> {
        let mut all: BTreeMap<PathBuf, Rc<Definitions>> = BTreeMap::new();
        all.insert(path.to_path_buf(), Rc::clone(text.definitions()));
        for analysis in self.analyses_of(path) {
            for (path, found) in &analysis.definitions {
                all.entry(path.clone()).or_insert_with(|| Rc::clone(found));
            }
        }
        all.into_iter().collect()
    }

    /// A text: the open one, or otherwise the one on disk; `None` if there is neither.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<Rc<Text>> {
        self.documents.text(path)
    }

    /// A byte of an open text or of a file.
    #[must_use]
    pub fn spot(&self, path: &Path, offset: usize) -> Option<Spot> {
        Some(Spot {
            path: path.to_path_buf(),
            offset,
            text: self.text(path)?,
        })
    }

    /// The symbols at a place: the program and the index of the symbol.
    #[must_use]
    pub(crate) fn symbols_at(&self, spot: &Spot) -> Vec<(&Analysis, usize)> {
        let mut found: Vec<(&Analysis, usize)> = Vec::new();
        for analysis in self.analyses_of(&spot.path) {
            for file in analysis.files(&spot.path) {
                let at = Span {
                    file,
                    lo: spot.offset as u32,
                    hi: spot.offset as u32,
                };
                for reference in analysis.index.at(at) {
                    let known = found.iter().any(|(other, symbol)| {
                        std::ptr::eq(*other, analysis) && *symbol == reference.symbol
                    });
                    if !known {
                        found.push((analysis, reference.symbol));
                    }
                }
            }
        }
        found
    }

    /// The parts of a text that conditions leave out in every program that contains it, in order.
    #[must_use]
    pub(crate) fn inactive(&self, path: &Path) -> Vec<Range<usize>> {
        let mut all = self
            .analyses_of(path)
            .flat_map(|analysis| analysis.inactive(path));
        let first = all.next().unwrap_or_default();
        let everywhere = all.fold(first, |both, it| both.intersection(&it).copied().collect());
        let range = |(lo, hi): (u32, u32)| lo as usize..hi as usize;
        everywhere.into_iter().map(range).collect()
    }

    /// The files of all programs in reach, open or not.
    pub(crate) fn files(&mut self) -> BTreeSet<PathBuf> {
        let mut all: BTreeSet<PathBuf> = BTreeSet::new();
        for root in 0..self.projects.roots.len() {
            all.extend(self.files_of(root).iter().cloned());
        }
        let open = self
            .analyses
            .iter()
            .flat_map(|analysis| analysis.definitions.keys());
        all.extend(open.cloned());
        all
    }

    /// The file that an include in another file refers to.
    #[must_use]
    pub(crate) fn included_by(&self, path: &Path, name: &str) -> Option<PathBuf> {
        use npsim_asm::Includes as _;
        let including = path.display().to_string();
        let folders = self
            .analyses_of(path)
            .map(|analysis| analysis.root.include.as_slice())
            .chain([&[][..]]);
        for folders in folders {
            let includes = FileIncludes::new(self.documents.files(), folders);
            if let Ok((path, _)) = includes.load(name, Some(&including)) {
                return Some(canonical(Path::new(&path)));
            }
        }
        None
    }
}

/// The program of a root: the `known` one, or otherwise read anew.
fn read(
    root: &Root,
    known: &mut Vec<Analysis>,
    readings: &mut u64,
    documents: &Documents,
) -> Option<Analysis> {
    let same = |it: &Analysis| {
        let other = &it.root;
        (&other.main, &other.files, &other.project) == (&root.main, &root.files, &root.project)
    };
    if let Some(at) = known.iter().position(same) {
        return Some(known.swap_remove(at));
    }
    *readings += 1;
    Analysis::new(*readings, root, documents)
}

/// Whether a file is one that projects are read from.
pub fn is_toml(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

fn files(root: &Root, documents: &Documents) -> BTreeSet<PathBuf> {
    let includes = FileIncludes::new(documents.files(), &root.include);
    let read = || {
        let mut sources = SourceMap::default();
        npsim_asm::front::preprocess::preprocess(
            &root.main.display().to_string(),
            &includes,
            &root.options,
            &mut sources,
            &mut Vec::new(),
        );
        sources
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).map_or_else(
        |_| BTreeSet::new(),
        |sources| {
            let paths = sources.files().iter().map(|file| file.path.as_str());
            paths
                .filter(|path| *path != "<command line>")
                .map(|path| canonical(Path::new(path)))
                .collect()
        },
    )
}
