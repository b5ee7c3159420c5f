//! Reads studies, shipped ones and files.

use std::path::Path;

use npsim_project::files::{Disk, Files as _};
use npsim_project::problem::Problem;
use npsim_project::toml_errors::{self, FileKind};
use npsim_project::toml_reader;

use crate::checking;
use crate::study::Study;

/// The file kind, for error messages.
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

/// Name and text of each shipped study.
const BUILT_IN: &[(&str, &str)] = &[
    ("baseline", include_str!("../studies/baseline/study.toml")),
    ("govind", include_str!("../studies/govind/study.toml")),
    ("hauger", include_str!("../studies/hauger/study.toml")),
    ("shang", include_str!("../studies/shang/study.toml")),
    ("zhang", include_str!("../studies/zhang/study.toml")),
];

impl Study {
    /// Parses the text of a study; `path` is its name in messages.
    ///
    /// # Errors
    /// Returns an error if it is not TOML, has unknown keys, or refers to something undefined.
    pub fn parse(path: &str, text: &str) -> Result<Self, Problem> {
        let study: Self = toml_reader::read(text)
            .map_err(|error| toml_errors::problem(&error, KIND, path, &text.into()))?;
        checking::check(&study).map_err(|problem| Problem {
            message: format!("{path}: {}", problem.message),
            ..problem
        })?;
        Ok(study)
    }

    /// Reads a study from a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or as [`Study::parse`] does.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let bytes = Disk
            .read(path)
            .map_err(|error| Problem::io("read", path, &error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::new(format!("`{}` is not text", path.display())))?;
        Self::parse(&path.display().to_string(), &text)
    }
}

/// Returns all shipped studies.
///
/// # Errors
/// Returns an error if one of them is invalid, which a test excludes.
pub fn all() -> Result<Vec<Study>, Problem> {
    BUILT_IN
        .iter()
        .map(|(name, text)| Study::parse(&format!("study {name}"), text))
        .collect()
}

/// Returns the unmodified text of the study with this name or in this file.
///
/// # Errors
/// Returns an error if there is none or it is invalid.
pub fn text(name: &str) -> Result<String, Problem> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    // Reports the same mistakes in the name or the file as running it would.
    find(name)?;
    let path = Path::new(name);
    npsim_net::inputs::note_read(path);
    std::fs::read_to_string(path).map_err(|error| Problem::io("read", path, &error))
}

/// Returns the study with this name or in this file.
///
/// # Errors
/// Returns an error if there is none or it is invalid.
pub fn find(name: &str) -> Result<Study, Problem> {
    if let Some((known, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Study::parse(&format!("study {known}"), text);
    }
    let path = Path::new(name);
    if is_file_name(name) || path.exists() {
        return Study::load(path);
    }
    let names = BUILT_IN.iter().map(|(name, _)| *name);
    Err(Problem::new(format!("there is no study `{name}`"))
        .help("`npsim reproduce` lists them; a file's name ends with `.toml`")
        .suggest(name, names))
}

/// Whether a name can only be a file name.
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
    fn built_in_studies_are_valid() {
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
                // A row computed from stated numbers alone needs no points.
                let stated = row.arithmetic.is_some()
                    && row.shape.is_none()
                    && row.measured.iter().all(|it| it.curves().is_empty());
                for ready in [&whole, &quick].into_iter().filter(|_| !stated) {
                    let needed = ready.iter().any(|p| crate::selection::needs(study, row, p));
                    assert!(needed, "{name} {} is measured nowhere", row.id);
                }
            }
        }
    }

    /// A point that runs once has no interval, so its study must comment on randomness instead.
    #[test]
    fn sweeps_are_replicated_or_explain_single_runs() {
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

    /// Rows were reproduced with these chip parameters. Changing a chip makes it a different one,
    /// and its studies must then be run again before their fingerprints are updated.
    #[test]
    fn shipped_chips_match_the_fingerprints_of_their_studies() {
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

    /// A published value is compared in the same way in every study.
    #[test]
    fn published_values_have_one_tolerance_everywhere() {
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
    fn unknown_study_suggests_a_similar_name() {
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
