//! The user's settings in the editor.

use std::path::{Path, PathBuf};

use npsim::analysis::Settings;
use serde_json::Value;

/// Reads settings as an editor sends them, at startup or later: an object with `include`,
/// `project` and `profile`, or one that has such an object as `npsim`. Relative paths are based on
/// `folder`. Values of the wrong type are treated as unset, since there is no request to refuse on
/// their account.
#[must_use]
pub fn settings(sent: &Value, folder: Option<&Path>) -> Settings {
    let sent = sent.get("npsim").unwrap_or(sent);
    let path = |it: &Value| {
        let path = PathBuf::from(it.as_str().filter(|it| !it.is_empty())?);
        Some(folder.map_or_else(|| path.clone(), |folder| folder.join(&path)))
    };
    let include = sent.get("include").and_then(Value::as_array);
    Settings {
        include: include.into_iter().flatten().filter_map(path).collect(),
        project: sent.get("project").and_then(path),
        profile: sent.get("profile").and_then(path),
    }
}

#[cfg(test)]
mod tests {
    use super::{Settings, settings};
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn settings_are_read_with_or_without_a_section() {
        let folder = Path::new("/folder");
        let plain = json!({"include": ["lib", "/abs", 3, ""], "project": "p/npsim.toml"});
        let read = settings(&plain, Some(folder));
        assert_eq!(read.include, [Path::new("/folder/lib"), Path::new("/abs")]);
        assert_eq!(
            read.project.as_deref(),
            Some(Path::new("/folder/p/npsim.toml"))
        );
        assert_eq!(settings(&json!({ "npsim": plain }), Some(folder)), read);
        for nothing in [json!(null), json!([]), json!({"include": 3, "project": ""})] {
            assert_eq!(settings(&nothing, None), Settings::default());
        }
    }
}
