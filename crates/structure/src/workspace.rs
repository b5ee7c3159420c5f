//! The crates of the workspace: their module trees and their other Rust files.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::modules::ModuleTree;

/// A crate of the workspace.
#[derive(Debug)]
pub struct Crate {
    /// The folder, relative to the workspace's root.
    pub name: String,
    /// The package's name.
    pub package: String,
    /// The module trees of its library and of its program.
    pub trees: Vec<ModuleTree>,
    /// Rust files outside of these trees, as paths relative to the crate's folder, with their
    /// texts.
    pub others: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Manifest {
    workspace: Members,
}

#[derive(Deserialize)]
struct Member {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

#[derive(Deserialize)]
struct Members {
    members: Vec<String>,
}

/// Reads all crates of the workspace in `root`, ordered by name.
///
/// # Errors
/// Returns an error that names the file if one cannot be read or parsed.
pub fn read(root: &Path) -> Result<Vec<Crate>, String> {
    let manifest = read_text(&root.join("Cargo.toml"))?;
    let manifest: Manifest =
        toml::from_str(&manifest).map_err(|error| format!("Cargo.toml: {error}"))?;
    let mut names = Vec::new();
    for member in manifest.workspace.members {
        match member.strip_suffix("/*") {
            Some(folder) => names.extend(members_in(root, folder)?),
            None => names.push(member),
        }
    }
    names.sort();
    names
        .into_iter()
        .map(|name| read_crate(root, name))
        .collect()
}

/// The subfolders of `folder` with a manifest, relative to the root.
fn members_in(root: &Path, folder: &str) -> Result<Vec<String>, String> {
    let path = root.join(folder);
    let entries =
        std::fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let members = entries
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").exists());
    Ok(members
        .map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
        .collect())
}

/// The root of the workspace that this crate belongs to.
#[must_use]
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_crate(root: &Path, name: String) -> Result<Crate, String> {
    let folder = root.join(&name);
    let manifest = read_text(&folder.join("Cargo.toml"))?;
    let manifest: Member =
        toml::from_str(&manifest).map_err(|error| format!("{name}/Cargo.toml: {error}"))?;
    let mut trees = Vec::new();
    for root in ["src/lib.rs", "src/main.rs", "lib.rs"] {
        let root = folder.join(root);
        if root.exists() {
            trees.push(ModuleTree::read(&folder, &root)?);
        }
    }
    let mut paths = Vec::new();
    find_rust(&folder, &mut paths)?;
    paths.sort();
    let mut others = Vec::new();
    for path in paths {
        let name = path
            .strip_prefix(&folder)
            .unwrap_or(&path)
            .to_string_lossy()
            .replace('\\', "/");
        if !trees
            .iter()
            .any(|tree| tree.files.iter().any(|file| file.name == name))
        {
            others.push((name, read_text(&path)?));
        }
    }
    Ok(Crate {
        name,
        package: manifest.package.name,
        trees,
        others,
    })
}

fn find_rust(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            find_rust(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
