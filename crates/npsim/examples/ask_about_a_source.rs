//! What an editor shows of a source while it is written: messages, remedies, what a word means.
//!
//! ```text
//! cargo run --release -p npsim --example ask_about_a_source
//! ```

use std::path::Path;

use npsim::analysis::{Settings, Workspace, paths};

const SOURCE: &str = ".reg total\nimmed[total, 1]\nalu[total, total, +, step]\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An open text counts in place of its file, which need not be there.
    let path = paths::canonical(Path::new("count.uc"));
    let mut workspace = Workspace::new(Vec::new(), Settings::default());
    workspace.open(&path, SOURCE.to_owned());
    workspace.assemble();
    for found in workspace.diagnostics() {
        println!("line {}: {}", found.place.line(), found.message);
        for action in workspace.actions(&path, &found.place.range) {
            println!("  remedy: {}", action.title);
        }
    }
    let offset = SOURCE.find("alu").ok_or("no such word")?;
    let spot = workspace.spot(&path, offset).ok_or("no such text")?;
    let hover = workspace.hover(&spot).ok_or("no meaning")?;
    println!("`{}` means:\n{}", &SOURCE[hover.range], hover.text);
    Ok(())
}
