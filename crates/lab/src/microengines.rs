//! Which microengines a metric means: their indices, or the name of a stage.

use npsim_project::text::{is_name, parse_ids};

/// A project's stages that have a name, with their microengines.
pub type Stages = [(String, Vec<u8>)];

/// The microengines that `me` names.
///
/// # Errors
/// It is no list of indices, and the project has no such stage.
pub fn named(me: &str, stages: &Stages) -> Result<Vec<u8>, String> {
    if let Some((_, ids)) = stages.iter().find(|(name, _)| name == me) {
        return Ok(ids.clone());
    }
    if is_name(me) {
        let known: Vec<_> = stages.iter().map(|(name, _)| name.as_str()).collect();
        return Err(match known.as_slice() {
            [] => format!("the project names no stage, so none is `{me}`"),
            _ => format!(
                "the project has no stage `{me}`, there are {}",
                known.join(", ")
            ),
        });
    }
    parse_ids(me, u8::MAX)
}

/// Checks a text whatever the project.
///
/// # Errors
/// It is neither a name nor a list of indices.
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
    fn stages_and_indices() {
        let stages = [("work".to_owned(), vec![4, 6])];
        assert_eq!(named("work", &stages), Ok(vec![4, 6]));
        assert_eq!(named("0-1,3", &stages), Ok(vec![0, 1, 3]));
        assert!(named("rx", &stages).unwrap_err().contains("there are work"));
        assert!(named("rx", &[]).unwrap_err().contains("names no stage"));
        assert!(check("rx").is_ok() && check("2-1").is_err());
    }
}
