//! A cache of assembled programs. The points of a study differ in their load
//! far more often than in their microcode, so most of them share programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use npsim_project::assemble::{Messages, Program, assemble_project};
use npsim_project::{ProgramPlan, Project};

/// File name that the assembler gives to the text it generates from the
/// defines.
const DEFINES: &str = "<command line>";

/// Everything that assembling depends on apart from the source texts.
#[derive(Clone, Debug, PartialEq)]
struct AssemblyInputs {
    plans: Vec<ProgramPlan>,
    include: Vec<PathBuf>,
    control_store_words: u16,
    local_memory_words: u16,
}

/// Assembled programs by project folder.
type AssemblyCache = BTreeMap<PathBuf, Vec<(AssemblyInputs, Vec<Program>)>>;

/// Assembled programs, keyed by what they were assembled from.
#[derive(Debug, Default)]
pub struct Assemblies {
    known: Mutex<AssemblyCache>,
}

impl Assemblies {
    /// Returns a project's programs, as [`assemble_project`] does, from the
    /// cache where possible.
    #[must_use]
    pub fn assemble(&self, project: &Project) -> (Option<Vec<Program>>, Messages) {
        let order = AssemblyInputs {
            plans: project.programs.clone(),
            include: project.include.clone(),
            control_store_words: project.profile.control_store_words(),
            local_memory_words: project.profile.local_memory_words(),
        };
        let folder = project.text.folder.clone();
        if let Some(programs) = self.find(&folder, &order) {
            return (Some(programs), Messages::default());
        }
        let (programs, messages) = assemble_project(project);
        if let Some(programs) = programs
            .as_ref()
            .filter(|programs| all_have_sources(programs))
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let list = known.entry(folder).or_default();
            list.retain(|(other, _)| *other != order);
            list.push((order, programs.clone()));
        }
        (programs, messages)
    }

    /// Returns cached programs with the same inputs, provided their source
    /// files have not changed.
    fn find(&self, folder: &Path, order: &AssemblyInputs) -> Option<Vec<Program>> {
        let programs = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let list = known.get(folder)?;
            list.iter().find(|(other, _)| other == order)?.1.clone()
        };
        let mut read: BTreeMap<String, bool> = BTreeMap::new();
        let files = programs.iter().flat_map(|program| program.sources.files());
        // The defines are listed as a file too, but they are already part of
        // the inputs.
        for file in files.filter(|file| file.path != DEFINES) {
            let same = *read.entry(file.path.clone()).or_insert_with(|| {
                std::fs::read(&file.path)
                    .is_ok_and(|bytes| npsim_project::includes::decode(bytes) == file.text)
            });
            if !same {
                return None;
            }
        }
        Some(programs)
    }
}

/// Whether all programs have sources. Preassembled firmware has none, so a
/// change could not be detected.
fn all_have_sources(programs: &[Program]) -> bool {
    programs
        .iter()
        .all(|program| !program.sources.files().is_empty())
}

#[cfg(test)]
mod tests {
    use super::Assemblies;
    use npsim_project::{Overrides, Project};

    #[test]
    fn changed_source_is_reassembled() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("a.uc");
        std::fs::write(dir.path().join("b.uc"), "nop\n").unwrap();
        std::fs::write(&source, "#include \"b.uc\"\nx#: br[x#]\n").unwrap();
        let project =
            Project::load(&source, &Overrides::default(), &npsim_protocols::registry()).unwrap();
        let assemblies = Assemblies::default();
        let words = |assemblies: &Assemblies| {
            let (programs, _) = assemblies.assemble(&project);
            programs.unwrap()[0].image.words.len()
        };
        assert_eq!(words(&assemblies), 2);
        let order = assemblies.known.lock().unwrap();
        let (folder, list) = order.iter().next().unwrap();
        let (folder, order_of) = (folder.clone(), list[0].0.clone());
        drop(order);
        assert!(assemblies.find(&folder, &order_of).is_some());
        std::fs::write(dir.path().join("b.uc"), "nop\nnop\n").unwrap();
        assert!(assemblies.find(&folder, &order_of).is_none());
        assert_eq!(words(&assemblies), 3);
    }
}
