//! The file formats of outputs, and their file extensions. An output whose extension stands for
//! another format is rejected, whichever option it belongs to.

use std::path::Path;

use npsim::problem::Problem;
use npsim_net::compression::{Compression, without_extension};

/// The format of an output.
#[derive(Debug)]
pub struct FileForm {
    /// Its name in messages.
    name: &'static str,
    /// Its file extensions, the usual one first.
    endings: &'static [&'static str],
    /// Whether it is binary, so that a terminal cannot show it.
    binary: bool,
    /// Whether it may be compressed.
    compressible: bool,
}

impl FileForm {
    const fn text(name: &'static str, endings: &'static [&'static str]) -> Self {
        Self {
            name,
            endings,
            binary: false,
            compressible: true,
        }
    }

    const fn binary(name: &'static str, endings: &'static [&'static str]) -> Self {
        Self {
            binary: true,
            ..Self::text(name, endings)
        }
    }
}

/// Frames.
pub static CAPTURE: FileForm = FileForm::binary("a capture", &["pcap", "cap", "pcapng", "ntar"]);
/// Results, profiles, timelines.
pub static JSON: FileForm = FileForm::text("JSON", &["json"]);
/// Rows of a table.
pub static CSV: FileForm = FileForm::text("CSV", &["csv"]);
/// A flame graph, as a picture or as text for other tools.
pub static FLAME: FileForm = FileForm::text("a flame graph", &["svg", "txt", "folded"]);
/// Contents of a memory.
pub static DUMP: FileForm = FileForm::text("hexadecimal longwords as text", &["txt"]);
/// Output that a program sent.
pub static UART: FileForm = FileForm::text("text of a UART", &["txt", "log"]);
/// A page of HTML.
pub static PAGE: FileForm = FileForm::text("a page", &["html"]);
/// Output of the assembler.
pub static FIRMWARE: FileForm = FileForm::binary("firmware", &["npi", "list", "hex", "bin", "txt"]);
/// The state of a run.
pub static CHECKPOINT: FileForm = FileForm {
    compressible: false,
    ..FileForm::binary("a checkpoint", &["ckpt"])
};

static ALL: [&FileForm; 9] = [
    &CAPTURE,
    &JSON,
    &CSV,
    &FLAME,
    &DUMP,
    &UART,
    &PAGE,
    &FIRMWARE,
    &CHECKPOINT,
];
/// Extensions of formats that npsim never writes as a single file of a user's choice.
const FOREIGN: [&str; 18] = [
    "erf", "snoop", "tsv", "xlsx", "parquet", "yaml", "toml", "xml", "png", "jpg", "jpeg", "gif",
    "pdf", "eps", "md", "uc", "vcd", "tar",
];
/// Extensions of compressed formats that npsim cannot write.
const PACKED: [&str; 13] = [
    "xz", "bz2", "lz4", "lzma", "lz", "br", "zip", "7z", "rar", "z", "tgz", "zstd", "gzip",
];

impl FileForm {
    /// Whether a file of that name is binary, so that a terminal cannot show it.
    pub fn is_binary(&self, path: &Path) -> bool {
        self.binary || Compression::of_name(path).is_some()
    }

    /// Rejects a name whose extension does not match what `option` writes.
    ///
    /// # Errors
    /// Returns an error if it does not match.
    pub fn check(&self, option: &str, path: &Path) -> Result<(), Problem> {
        let name = path.display();
        if let Some(ending) = ending(path).filter(|ending| PACKED.contains(&&**ending)) {
            return Err(Problem::new(format!(
                "{option} cannot be compressed as `.{ending}` promises: `{name}`"
            ))
            .help(if self.compressible {
                "let the name end in `.gz` or `.zst`, or leave that ending out"
            } else {
                "leave that ending out"
            }));
        }
        if !self.compressible
            && let Some(compression) = Compression::of_name(path)
        {
            return Err(Problem::new(format!(
                "{option} writes {}, which is not compressed as `.{}` promises: `{name}`",
                self.name,
                compression.ending()
            ))
            .help("leave that ending out"));
        }
        let plain = without_extension(path);
        let Some(ending) = ending(&plain) else {
            return Ok(());
        };
        let others = ALL.iter().flat_map(|form| form.endings.iter());
        // Any text may have the extension `.txt`.
        let promises = others.chain(&FOREIGN).any(|it| *it == ending) && ending != "txt";
        if !promises || self.endings.contains(&&*ending) {
            return Ok(());
        }
        let renamed = plain.with_extension(self.endings[0]);
        let endings: Vec<_> = self.endings.iter().map(|it| format!("`.{it}`")).collect();
        Err(Problem::new(format!(
            "{option} writes {}, and the ending of `{name}` is for something else",
            self.name
        ))
        .help(format!(
            "name it for example `{}`; the endings of {} are {}",
            renamed.display(),
            self.name,
            endings.join(", ")
        )))
    }
}

/// The file extension, in lower case.
fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{ALL, CAPTURE, CHECKPOINT, FOREIGN, JSON, PACKED};
    use std::path::Path;

    #[test]
    fn mismatched_file_endings_are_refused() {
        for form in ALL {
            for own in form.endings {
                assert!(form.check("--out", Path::new(&format!("a.{own}"))).is_ok());
                for other in FOREIGN.iter().filter(|it| !form.endings.contains(it)) {
                    let name = format!("a.{other}");
                    assert!(form.check("--out", Path::new(&name)).is_err(), "{name}");
                }
                for packed in PACKED {
                    let name = format!("a.{own}.{packed}");
                    assert!(form.check("--out", Path::new(&name)).is_err(), "{name}");
                }
                for packed in ["gz", "zst", "GZ"] {
                    let name = format!("a.{own}.{packed}");
                    let checked = form.check("--out", Path::new(&name));
                    assert_eq!(checked.is_ok(), form.compressible, "{name}");
                }
            }
            for any in ["a", "a.out", "a.1", ".hidden", "-", "/dev/null", "a.txt"] {
                assert!(form.check("--out", Path::new(any)).is_ok(), "{any}");
            }
        }
    }

    #[test]
    fn suggested_file_name_has_the_right_ending() {
        let refused = |form: &super::FileForm, name: &str| {
            let problem = form.check("--stats", Path::new(name)).unwrap_err();
            format!("{problem:?}")
        };
        assert!(refused(&JSON, "x.csv.gz").contains("`x.json`"));
        assert!(refused(&CAPTURE, "x.JSON").contains("`x.pcap`"));
        assert!(refused(&CHECKPOINT, "x.ckpt.gz").contains("leave that ending out"));
    }
}
