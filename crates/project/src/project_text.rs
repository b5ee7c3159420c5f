//! The text of a project file, as context for messages.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::source_map::SourceMap;
use crate::problem::Excerpt;

/// The text of a project file and its location.
#[derive(Clone, Debug)]
pub struct ProjectText {
    /// The path as shown to the user.
    pub path: String,
    /// The folder to which sources are relative.
    pub folder: PathBuf,
    /// The text, merged with everything that the file extends.
    pub text: Arc<str>,
    /// The files that it was read from: first the extended ones, then the project file.
    pub files: Vec<PathBuf>,
    /// Origins of its keys, if it comes from several files.
    pub(super) source_map: Option<Arc<SourceMap>>,
}

impl ProjectText {
    /// Returns the excerpt of a place in it.
    #[must_use]
    pub fn excerpt(&self, span: Range<usize>, label: impl Into<String>) -> Excerpt {
        if let Some(source_map) = &self.source_map {
            return source_map.excerpt(&self.text, &self.path, span, label.into());
        }
        Excerpt {
            path: self.path.clone(),
            text: self.text.clone(),
            span,
            label: label.into(),
        }
    }
}
