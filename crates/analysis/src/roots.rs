//! The programs to check: the sources of all projects in reach, and single
//! sources that do not belong to a project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim_asm::Options;
use npsim_profile::Profile;
use npsim_project::assemble::options;
use npsim_project::files::{FileKind, Files};
use npsim_project::problem::Problem;
use npsim_project::{FILE_NAME, Overrides, Project};
use npsim_protocols::registry;

use super::documents::Documents;
use super::paths::canonical;
use super::settings::Settings;

/// Maximum depth at which folders are searched for projects.
const MAX_DEPTH: usize = 6;
/// Maximum number of folders that are searched.
const MAX_FOLDERS: usize = 4000;

/// A source that is assembled.
#[derive(Clone, Debug)]
pub struct Root {
    /// The canonical path.
    pub main: PathBuf,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
    /// The assembler's options.
    pub options: Options,
    /// The chip whose timing applies; `None` for a text that is not a file.
    pub profile: Option<Arc<Profile>>,
    /// The files that make up its project: those that are extended, then the project file; empty
    /// without a project.
    pub files: Vec<PathBuf>,
    /// The project that runs it and the microengine that is considered.
    pub project: Option<(String, u8)>,
}

/// The projects in reach.
#[derive(Clone, Debug, Default)]
pub struct Projects {
    folders: Vec<PathBuf>,
    settings: Settings,
    files: Vec<PathBuf>,
    /// The sources that they run, each once per project.
    pub roots: Vec<Root>,
    /// Errors in project files.
    pub problems: BTreeMap<PathBuf, Vec<Problem>>,
}

impl Projects {
    /// Searches for projects in these folders and below.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>, settings: Settings, documents: &Documents) -> Self {
        let mut projects = Self {
            folders,
            settings,
            ..Self::default()
        };
        projects.search(documents);
        projects
    }

    /// Changes the settings, which take effect at the next search.
    pub fn set(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Searches again: project files may have been added, removed or changed.
    pub fn search(&mut self, documents: &Documents) {
        let on = documents.files();
        let mut budget = MAX_FOLDERS;
        let mut files = Vec::new();
        for folder in &self.folders {
            find(on, folder, 0, &mut budget, &mut files);
        }
        files.extend(self.settings.project.as_ref().map(|path| {
            let path = if is_folder(on, path) {
                path.join(FILE_NAME)
            } else {
                path.clone()
            };
            canonical(&path)
        }));
        // Projects that were found above a source are not below any of the folders.
        files.extend(self.files.iter().filter(|path| on.is_file(path)).cloned());
        files.sort();
        files.dedup();
        self.files = files;
        self.load(documents);
    }

    /// Adds the projects in the folders above a source. Returns whether there
    /// were new ones.
    pub fn reach(&mut self, source: &Path, documents: &Documents) -> bool {
        let mut found = false;
        for folder in source.ancestors().skip(1).take(MAX_DEPTH) {
            let file = folder.join(FILE_NAME);
            if !self.files.contains(&file) && documents.files().is_file(&file) {
                self.files.push(file);
                found = true;
            }
        }
        if found {
            self.files.sort();
            self.load(documents);
        }
        found
    }

    /// The path of the last profile of a program: the configured one, or `profile.json` in the
    /// folder of its project, or in its own folder without a project.
    #[must_use]
    pub fn profile(&self, root: &Root) -> Option<PathBuf> {
        let beside = || {
            // The project file itself comes last, after those that it extends.
            let file = root.files.last().unwrap_or(&root.main);
            Some(file.parent()?.join("profile.json"))
        };
        self.settings.profile.clone().or_else(beside)
    }

    /// Reads the projects, from the editor's version if a file is open, otherwise from disk.
    pub fn load(&mut self, documents: &Documents) {
        let (overrides, registry) = (Overrides::default(), registry());
        self.roots.clear();
        self.problems.clear();
        for file in &self.files {
            match Project::load_from(documents.files(), file, &overrides, &registry) {
                Ok(project) => add(&mut self.roots, &project),
                Err(problems) => {
                    self.problems.insert(file.clone(), problems.0);
                }
            }
        }
    }

    /// The root for a source that no project runs. Beside a project file, it is treated as if it
    /// replaced the project's first program. Any other source is on its own: in the default
    /// project, if it is a file. It includes from the configured folders, from those of the
    /// projects in reach, and from a `lib` beside it or above.
    #[must_use]
    pub fn single(&self, source: &Path, documents: &Documents) -> Root {
        let beside = |root: &&Root| {
            let project = root.files.last();
            project.is_some_and(|project| project.parent() == source.parent())
        };
        if let Some(root) = self.roots.iter().find(beside) {
            return Root {
                main: source.to_path_buf(),
                project: None,
                ..root.clone()
            };
        }
        let mut include = self.settings.include.clone();
        include.extend(
            self.roots
                .iter()
                .flat_map(|root| root.include.iter().cloned()),
        );
        let above = source.ancestors().skip(1).take(MAX_DEPTH);
        include.extend(above.map(|folder| folder.join("lib")));
        let mut seen = BTreeSet::new();
        include.retain(|it| is_folder(documents.files(), it) && seen.insert(canonical(it)));
        let overrides = Overrides {
            include: include.clone(),
            ..Overrides::default()
        };
        let registry = registry();
        let mut roots = Vec::new();
        if let Ok(project) = Project::load_from(documents.files(), source, &overrides, &registry) {
            add(&mut roots, &project);
        }
        roots.pop().unwrap_or_else(|| Root {
            main: source.to_path_buf(),
            include,
            options: Options::default(),
            profile: None,
            files: Vec::new(),
            project: None,
        })
    }
}

/// Adds one root for each source of a project: microengines that run the same
/// source define almost the same names, so the first one represents all.
fn add(roots: &mut Vec<Root>, project: &Project) {
    let first = roots.len();
    let files = if project.is_default {
        Vec::new()
    } else {
        project.text.files.clone()
    };
    let profile = Some(Arc::new(project.profile.clone()));
    for plan in &project.programs {
        let main = canonical(&plan.source);
        if roots[first..].iter().any(|root| root.main == main) {
            continue;
        }
        roots.push(Root {
            main,
            include: project.include.clone(),
            options: options(project, plan),
            profile: profile.clone(),
            files: files.clone(),
            project: (!project.is_default).then(|| (project.name.clone(), plan.me)),
        });
    }
}

/// Whether a folder exists.
pub fn is_folder(on: &dyn Files, path: &Path) -> bool {
    on.kind(path).is_ok_and(|it| it == FileKind::Folder)
}

fn find(on: &dyn Files, folder: &Path, depth: usize, budget: &mut usize, files: &mut Vec<PathBuf>) {
    if depth > MAX_DEPTH || *budget == 0 {
        return;
    }
    *budget -= 1;
    let (Ok(entries), Ok(whole)) = (on.list(folder), on.canonical(folder)) else {
        return;
    };
    let mut inner = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == FILE_NAME {
            files.push(canonical(&path));
            continue;
        }
        let ours = !name.starts_with('.') && name != "target" && name != "node_modules";
        // A symbolic link may lead back to where the search has been.
        let is_link = || on.canonical(&path).ok() != Some(whole.join(&*name));
        if ours && is_folder(on, &path) && !is_link() {
            inner.push(path);
        }
    }
    inner.sort();
    for folder in inner {
        find(on, &folder, depth + 1, budget, files);
    }
}
