//! Reads studies: those that come with the program, and those in files.

use std::path::Path;

use npsim_asm::spelling::closest;
use npsim_project::files::{Disk, Files as _};
use npsim_project::problem::Problem;
use npsim_project::toml_errors::{self, FileKind};
use npsim_project::toml_reader;

use crate::checking;
use crate::study::Study;

/// The kind of file, for mistakes.
const KIND: FileKind<'_> = FileKind {
    noun: "study's",
    forms: &[(
        &[
            "warm_up",
            "warm_up_most",
            "measure",
            "every",
            "delta",
            "rtt",
        ],
        "a time in quotes, such as \"500us\"",
    )],
};

/// Name and text of each.
const BUILT_IN: &[(&str, &str)] = &[
    ("baseline", include_str!("../studies/baseline/study.toml")),
    ("govind", include_str!("../studies/govind/study.toml")),
    ("hauger", include_str!("../studies/hauger/study.toml")),
    ("shang", include_str!("../studies/shang/study.toml")),
    ("zhang", include_str!("../studies/zhang/study.toml")),
];

impl Study {
    /// Reads the text of a study; `path` is how it is shown in messages.
    ///
    /// # Errors
    /// It is no TOML, has keys that no study has, or names what is not there.
    pub fn parse(path: &str, text: &str) -> Result<Self, Problem> {
        let study: Self = toml_reader::read(text)
            .map_err(|error| toml_errors::problem(&error, KIND, path, &text.into()))?;
        checking::check(&study).map_err(|problem| Problem {
            message: format!("{path}: {}", problem.message),
            ..problem
        })?;
        Ok(study)
    }

    /// Reads a study's file.
    ///
    /// # Errors
    /// It cannot be read, or as in [`Study::parse`].
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let bytes = Disk
            .read(path)
            .map_err(|error| Problem::io("read", path, &error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::new(format!("`{}` is not text", path.display())))?;
        Self::parse(&path.display().to_string(), &text)
    }
}

/// All shipped studies.
///
/// # Errors
/// One of them is wrong, which a test excludes.
pub fn all() -> Result<Vec<Study>, Problem> {
    BUILT_IN
        .iter()
        .map(|(name, text)| Study::parse(&format!("study {name}"), text))
        .collect()
}

/// The text of the study of this name, or of the one in this file, as it is.
///
/// # Errors
/// There is none.
pub fn text(name: &str) -> Result<String, Problem> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    // What is wrong with the name or the file is the same as where it is run.
    find(name)?;
    let path = Path::new(name);
    npsim_net::inputs::reading(path);
    std::fs::read_to_string(path).map_err(|error| Problem::io("read", path, &error))
}

/// The study of this name, or the one in this file.
///
/// # Errors
/// There is none, or the file is wrong.
pub fn find(name: &str) -> Result<Study, Problem> {
    if let Some((known, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Study::parse(&format!("study {known}"), text);
    }
    let path = Path::new(name);
    if is_file_name(name) || path.exists() {
        return Study::load(path);
    }
    let names = BUILT_IN.iter().map(|(name, _)| *name);
    let problem = Problem::new(format!("there is no study `{name}`"));
    Err(match closest(name, names) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("`npsim reproduce` lists them; a file's name ends with `.toml`"),
    })
}

/// Whether this can only mean a file.
#[must_use]
pub fn is_file_name(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).extension().is_some_and(|end| end == "toml")
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, all, find};
    use crate::points::points;
    use crate::replicates::draws_nothing;
    use crate::study::{Replicated, SubjectKind};

    #[test]
    fn every_study_is_right_and_has_its_name() {
        for (study, (name, _)) in all().unwrap().iter().zip(BUILT_IN) {
            assert_eq!(study.name, *name);
            let (whole, quick) = (points(study, false).unwrap(), points(study, true).unwrap());
            assert!(quick.len() < whole.len(), "{name} has a quick run");
            for row in &study.published {
                assert!(
                    !row.source.is_empty() && !row.what.is_empty(),
                    "{name} {}",
                    row.id
                );
                // What is computed from stated numbers alone needs no point.
                let stated = row.arithmetic.is_some()
                    && row.shape.is_none()
                    && row.measured.iter().all(|it| it.curves().is_empty());
                for ready in [&whole, &quick].into_iter().filter(|_| !stated) {
                    let needed = ready.iter().any(|p| crate::verdict::needs(study, row, p));
                    assert!(needed, "{name} {} is measured nowhere", row.id);
                }
            }
        }
    }

    /// A point that is run once has no interval: what its study says of chance instead.
    #[test]
    fn sweeps_have_intervals_or_say_why_not() {
        for study in all().unwrap() {
            let repeated: std::collections::BTreeSet<&str> = { study.sweep.values() }
                .filter(|sweep| sweep.replicate.is_some() && study.replication.runs > 2)
                .flat_map(|sweep| study.metrics_of(sweep).into_keys())
                .collect();
            for (name, sweep) in &study.sweep {
                let whole = sweep.replicate == Some(Replicated::All(true));
                let mut metrics = study.metrics_of(sweep).into_keys();
                let known = sweep.single.is_some()
                    || draws_nothing(&study, sweep).is_some()
                    || metrics.all(|metric| repeated.contains(metric));
                assert!(whole || known, "{}: sweep `{name}`", study.name);
            }
        }
    }

    /// What was reproduced was so with these numbers: a chip that is changed is another one, and its
    /// studies are to be run again before they may say otherwise.
    #[test]
    fn chips_of_studies_are_those_that_they_were_made_with() {
        let shipped = ["ixp2400", "ixp2800"].map(|name| {
            let profile = npsim_profile::Profile::load(name).unwrap();
            (name.to_owned(), profile.chip_fingerprint())
        });
        for study in all().unwrap() {
            let chips = { study.sweep.values() }.any(|sweep| sweep.kind() == SubjectKind::Chip);
            if chips {
                let shipped = std::collections::BTreeMap::from(shipped.clone());
                assert_eq!(study.chips, shipped, "{}", study.name);
            }
        }
    }

    /// What is published once is compared in one way, in whatever study.
    #[test]
    fn one_id_has_one_tolerance_everywhere() {
        let mut known = std::collections::BTreeMap::new();
        for study in all().unwrap() {
            for row in study.published.iter().filter(|r| r.arithmetic.is_none()) {
                let Some(tolerance) = row.tolerance else {
                    continue;
                };
                let (first, name) = known
                    .entry(row.id.clone())
                    .or_insert((tolerance, study.name.clone()));
                assert_eq!(*first, tolerance, "{} in {name} and {}", row.id, study.name);
            }
        }
        assert!(known.len() > 20);
    }

    #[test]
    fn an_unknown_study_names_its_neighbour() {
        assert!(
            find("baselin")
                .unwrap_err()
                .to_string()
                .contains("`baseline`")
        );
        assert!(
            find("x")
                .unwrap_err()
                .to_string()
                .contains("npsim reproduce")
        );
        assert!(
            find("no/such.toml")
                .unwrap_err()
                .to_string()
                .contains("cannot read")
        );
    }
}
