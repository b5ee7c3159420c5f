//! The microengines of a metric, given by indices or by the name of a stage.

use npsim_project::text::{is_name, parse_ids};

/// A project's named stages, with their microengines.
pub type Stages = [(String, Vec<u8>)];

/// Returns the microengines that `me` names.
///
/// # Errors
/// Returns an error if it is neither a list of indices nor a stage of the
/// project.
pub fn named(me: &str, stages: &Stages) -> Result<Vec<u8>, String> {
    if let Some((_, ids)) = stages.iter().find(|(name, _)| name == me) {
        return Ok(ids.clone());
    }
    if is_name(me) {
        let known: Vec<_> = stages.iter().map(|(name, _)| name.as_str()).collect();
        return Err(match known.as_slice() {
            [] => format!("the project names no stage, so none is `{me}`"),
            _ => format!(
                "the project has no stage `{me}`; choose one of {}",
                known.join(", ")
            ),
        });
    }
    parse_ids(me, u8::MAX)
}

/// Checks the syntax, independently of a project.
///
/// # Errors
/// Returns an error if it is neither a name nor a list of indices.
pub fn check(me: &str) -> Result<(), String> {
    if is_name(me) {
        return Ok(());
    }
    parse_ids(me, u8::MAX).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{check, named};

    #[test]
    fn microengines_are_chosen_by_stage_or_index() {
        let stages = [("work".to_owned(), vec![4, 6])];
        assert_eq!(named("work", &stages), Ok(vec![4, 6]));
        assert_eq!(named("0-1,3", &stages), Ok(vec![0, 1, 3]));
        assert!(
            named("rx", &stages)
                .unwrap_err()
                .contains("choose one of work")
        );
        assert!(named("rx", &[]).unwrap_err().contains("names no stage"));
        assert!(check("rx").is_ok() && check("2-1").is_err());
    }
}
