//! The text of a project file, for places in it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::source_map::SourceMap;
use crate::problem::Excerpt;

/// The text of a project file and where it lies.
#[derive(Clone, Debug)]
pub struct ProjectText {
    /// As it is shown.
    pub path: String,
    /// Sources are relative to it.
    pub folder: PathBuf,
    /// The text, with everything that the file extends in it.
    pub text: Arc<str>,
    /// The files that it was read from: those that are extended, then the
    /// project file.
    pub files: Vec<PathBuf>,
    /// Where its keys stand, if it comes from several files.
    pub(super) source_map: Option<Arc<SourceMap>>,
}

impl ProjectText {
    /// A place in it.
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
