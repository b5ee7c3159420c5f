//! Assigns sources to microengines, with the names that they see.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_image::{ContextMode, NnMode};

use super::{Modes, Overrides, ProgramPlan, Resolver, chip_names};
use crate::file::{MeSection, NnModeKind, ProjectFile};
use crate::files::{FileKind, join, simplify_path};
use crate::firmware_file::is_bare;
use crate::keys::Ids;
use crate::problem::Problem;
use crate::text::{is_name, parse_ids, value_of};

impl Resolver<'_> {
    pub(super) fn programs(
        &mut self,
        file: &ProjectFile,
        overrides: &Overrides,
    ) -> Vec<ProgramPlan> {
        for name in chip_names(self.capacity) {
            self.define(name, 1_u8, "the chip", 0..0);
        }
        let mut programs: Vec<(ProgramPlan, &MeSection)> = Vec::new();
        if file.me.is_empty() {
            self.problems.push(
                Problem::new("the project runs no microcode")
                    .help("add a [[me]] section with `id = 0` and `source = \"firmware.uc\"`"),
            );
        }
        if overrides.ids.is_some() && file.me.len() > 1 {
            self.problems.push(
                Problem::new(format!(
                    "--me is ambiguous: the project has {} [[me]] sections",
                    file.me.len()
                ))
                .help("change `id` in the project file instead"),
            );
            return Vec::new();
        }
        for section in &file.me {
            let source = self.source(section);
            let imports = self.imports(section, overrides);
            let modes = self.modes(section);
            let ids = self.ids(section, overrides);
            self.stage(section, &ids);
            for me in ids {
                if let Some((other, _)) = programs.iter().find(|(p, _)| p.me == me) {
                    let message = format!("microengine {me} is given two programs");
                    let label = format!("`{}` runs on it already", other.source.display());
                    self.fail(section.id.span(), message, label, "a microengine has one control store; remove its index from one of the lists");
                    continue;
                }
                programs.push((
                    ProgramPlan {
                        me,
                        source: source.clone(),
                        defines: Vec::new(),
                        imports: imports.clone(),
                        spill_moves: section.spill_moves || overrides.spill_moves,
                        modes,
                    },
                    section,
                ));
            }
        }
        programs.sort_by_key(|(plan, _)| plan.me);
        self.define("ME_COUNT".into(), programs.len(), "the chip", 0..0);
        self.define(
            "ME_MHZ".into(),
            self.capacity.hertz / 1_000_000,
            "the chip",
            0..0,
        );
        for section in &file.me {
            self.user_defines(section);
        }
        for (name, _) in &overrides.defines {
            self.command_line_define(name);
        }
        programs
            .into_iter()
            .map(|(plan, section)| self.with_defines(plan, section, overrides))
            .collect()
    }

    /// Checks that the folders for `#include` exist: otherwise each `#include` would fail.
    pub(super) fn include(&mut self, folders: &[crate::keys::Spanned<String>]) {
        for folder in folders {
            let path = join(&self.text.folder, Path::new(folder.get_ref()));
            let found = self.files.kind(&path);
            let message = match found {
                Ok(FileKind::Folder) => continue,
                Ok(_) => format!("`{}` is not a folder", path.display()),
                Err(_) => format!("there is no folder `{}`", path.display()),
            };
            let label = "looked for relative to the project's folder";
            self.fail(folder.span(), message, label, "");
        }
    }

    /// Defines the names that sources see for a named stage.
    fn stage(&mut self, section: &MeSection, ids: &[u8]) {
        let (Some(name), Some(first)) = (&section.name, ids.iter().min()) else {
            return;
        };
        if !self.name(name) {
            return;
        }
        self.stages.push((name.get_ref().clone(), ids.to_vec()));
        let owner = format!("the stage `{}`", name.get_ref());
        let prefix = name.get_ref().to_uppercase();
        self.define(format!("{prefix}_FIRST"), *first, &owner, name.span());
        self.define(format!("{prefix}_COUNT"), ids.len(), &owner, name.span());
    }

    fn source(&mut self, section: &MeSection) -> PathBuf {
        let path = join(&self.text.folder, Path::new(section.source.get_ref()));
        let path = simplify_path(self.files, Path::new("."), &path);
        if !self.files.is_file(&path) {
            self.fail(
                section.source.span(),
                format!("there is no source `{}`", path.display()),
                "looked for relative to the project's folder",
                "",
            );
        }
        path
    }

    /// Returns the values of import variables; those of the command line override the section's.
    fn imports(&mut self, section: &MeSection, overrides: &Overrides) -> Vec<(String, u32)> {
        let mut all = BTreeMap::new();
        for (name, value) in &section.import {
            if !self.name(name) {
                continue;
            }
            match value_of(*value.get_ref()) {
                Some(number) => {
                    all.insert(name.get_ref().clone(), number);
                }
                None => self.fail(
                    value.span(),
                    format!("{} does not fit 32 bits", value.get_ref()),
                    "",
                    "use -2147483648 to 4294967295",
                ),
            }
        }
        all.extend(overrides.imports.iter().cloned());
        all.into_iter().collect()
    }

    fn modes(&mut self, section: &MeSection) -> Modes {
        let mut modes = Modes::default();
        let contexts = section.contexts.as_ref().map(crate::keys::Spanned::span);
        let given = contexts.or(section.nn_mode.as_ref().map(crate::keys::Spanned::span));
        if let Some(span) = given
            && !is_bare(Path::new(section.source.get_ref()))
        {
            self.fail(
                span,
                "the modes of a microengine can be set only for bare words",
                "",
                "a source sets them with `.num_contexts` and `.init_nn_mode`, and an image file contains them; remove the key",
            );
            return modes;
        }
        match section.contexts.as_ref().map(|n| (*n.get_ref(), n.span())) {
            None | Some((8, _)) => {}
            Some((4, _)) => modes.contexts = ContextMode::Four,
            Some((other, span)) => self.fail(
                span,
                format!("{other} contexts are not possible"),
                "",
                "use 4 or 8",
            ),
        }
        if let Some(NnModeKind::Own) = section.nn_mode.as_ref().map(|m| *m.get_ref()) {
            modes.nn_mode = NnMode::Own;
        }
        modes
    }

    fn ids(&mut self, section: &MeSection, overrides: &Overrides) -> Vec<u8> {
        let (text, typed) = match (&overrides.ids, section.id.get_ref()) {
            (Some(ids), _) => (ids.clone(), true),
            (None, Ids::One(id)) => (id.to_string(), false),
            (None, Ids::List(list)) => (list.clone(), false),
        };
        match parse_ids(&text, self.capacity.microengines) {
            Ok(ids) => ids,
            Err(message) if typed => {
                self.problems
                    .push(Problem::new(format!("--me {text}: {message}")));
                Vec::new()
            }
            Err(message) => {
                self.fail(section.id.span(), message, "", "");
                Vec::new()
            }
        }
    }

    /// Checks that a section's own names do not clash with the project's.
    fn user_defines(&mut self, section: &MeSection) {
        for name in section.define.keys() {
            if !self.name(name) {
                continue;
            }
            if let Some(owner) = self.owner(name.get_ref()) {
                self.fail(
                    name.span(),
                    format!("`{}` is already defined by {owner}", name.get_ref()),
                    "",
                    "use another name",
                );
            }
        }
    }

    fn command_line_define(&mut self, name: &str) {
        if !is_name(name) {
            self.problems.push(
                Problem::new(format!(
                    "-D {name}: this is not a name that a source can use"
                ))
                .help("write -D NAME or -D NAME=VALUE with letters, digits and `_`"),
            );
        } else if let Some(owner) = self.owner(name) {
            self.problems.push(
                Problem::new(format!("-D {name}: the name is already defined by {owner}"))
                    .help("use another name"),
            );
        }
    }

    fn owner(&self, name: &str) -> Option<String> {
        match name {
            "ME_INDEX" | "ME_NUMBER" => Some("the chip".into()),
            _ => self.defines.get(name).map(|define| define.owner.clone()),
        }
    }

    fn with_defines(
        &self,
        mut plan: ProgramPlan,
        section: &MeSection,
        overrides: &Overrides,
    ) -> ProgramPlan {
        let mut all: BTreeMap<String, String> = self
            .defines
            .iter()
            .map(|(name, d)| (name.clone(), d.value.clone()))
            .collect();
        all.insert("ME_INDEX".into(), plan.me.to_string());
        all.insert(
            "ME_NUMBER".into(),
            self.capacity.me_numbers[usize::from(plan.me)].to_string(),
        );
        all.extend(
            section
                .define
                .iter()
                .map(|(name, value)| (name.get_ref().clone(), value.text())),
        );
        all.extend(overrides.defines.iter().cloned());
        plan.defines = all.into_iter().collect();
        plan
    }
}
