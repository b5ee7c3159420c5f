//! Puts the pages of the book into a table, for `npsim docs` and for the schemas that are
//! made from a page.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder");
    let out = env::var("OUT_DIR").expect("cargo names a folder for what is made");
    let folder = Path::new(&root).join("src");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    let mut table = String::from("&[\n");
    for page in &pages {
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        let path = page.to_string_lossy();
        let _ = writeln!(table, "    ({name:?}, include_str!({path:?})),");
    }
    table += "]\n";
    fs::write(Path::new(&out).join("pages.rs"), table).expect("write the table of pages");
}
