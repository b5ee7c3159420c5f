//! The texts that an editor has open, with its URIs and version numbers, and the analysis of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{
    TextDocumentContentChangeEvent, TextDocumentItem, TextDocumentPositionParams, Uri,
    VersionedTextDocumentIdentifier,
};
use npsim::analysis::{LineIndex, Spot, Workspace};

use super::position;
use super::uris::{path_of, to_uri};

/// An open text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The editor's URI for it.
    pub uri: Uri,
    /// The editor's version number.
    pub version: i32,
}

/// The state of an editor's texts.
#[derive(Debug)]
pub struct Editor {
    /// The analysis.
    pub workspace: Workspace,
    /// The open texts by canonical path.
    pub open: BTreeMap<PathBuf, Document>,
}

impl Editor {
    /// Handles an opened text.
    pub fn open(
        &mut self,
        TextDocumentItem {
            uri, version, text, ..
        }: TextDocumentItem,
    ) {
        let path = path_of(&uri);
        self.workspace.open(&path, text);
        self.open.insert(path, Document { uri, version });
    }

    /// Handles a change to an open text.
    pub fn change(
        &mut self,
        document: &VersionedTextDocumentIdentifier,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) {
        let path = path_of(&document.uri);
        let (Some(open), Some(text)) = (self.open.get_mut(&path), self.workspace.text(&path))
        else {
            return;
        };
        open.version = document.version;
        let mut text = text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let bytes = position::bytes(&LineIndex::new(text.as_str()), range);
                    text.replace_range(bytes, &change.text);
                }
            }
        }
        self.workspace.change(&path, text);
    }

    /// Handles a closed text.
    pub fn close(&mut self, uri: &Uri) {
        let path = path_of(uri);
        self.workspace.close(&path);
        self.open.remove(&path);
    }

    /// The URI by which the editor knows a file.
    #[must_use]
    pub fn uri(&self, path: &Path) -> Option<Uri> {
        let open = self.open.get(path).map(|document| document.uri.clone());
        open.or_else(|| to_uri(path))
    }

    /// The place that a request refers to; `None` if its text is not available.
    #[must_use]
    pub fn spot(&self, place: &TextDocumentPositionParams) -> Option<Spot> {
        let path = path_of(&place.text_document.uri);
        let text = self.workspace.text(&path)?;
        let offset = position::offset(&text, place.position);
        Some(Spot { path, text, offset })
    }
}
