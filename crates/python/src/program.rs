//! Assembled microcode, and its disassembly.

use std::path::PathBuf;
use std::sync::Arc;

use npsim::files::{Disk, MemoryFiles};
use npsim::firmware_file;
use npsim::image::Image;
use npsim::project::Overrides;
use npsim::system::System;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::column::Column;
use crate::column_data::{ColumnBuilder, ColumnData, Values};
use crate::error;
use crate::text::{pairs, text_of};

/// A program: the words that a microengine executes, with the names of its source.
#[pyclass(frozen, module = "npsim")]
pub struct Program {
    image: Image,
    words: Arc<ColumnData>,
    microengines: Vec<u8>,
    source: String,
}

impl Program {
    /// Creates a program for some microengines; for any if the list is empty.
    pub fn new(image: Image, microengines: Vec<u8>, source: String) -> Self {
        let mut words = ColumnBuilder::new(Values::U64(Vec::new()));
        for word in &image.words {
            words.put(Some(*word));
        }
        Self {
            image,
            words: words.finish(),
            microengines,
            source,
        }
    }
}

#[pymethods]
impl Program {
    /// The instruction words of 40 bits, in address order.
    #[getter]
    fn words(&self) -> Column {
        Column(Arc::clone(&self.words))
    }

    /// The microengines that run the program; empty if it does not specify any.
    #[getter]
    fn microengines(&self) -> Vec<u32> {
        self.microengines.iter().copied().map(u32::from).collect()
    }

    /// The source file, or the file that the program was read from.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// Return a listing: addresses, words, instructions, symbols.
    fn listing(&self) -> String {
        npsim::image::listing(&self.image)
    }

    /// Return the words as canonical assembly, which assembles to the same words again.
    fn disassembly(&self) -> String {
        npsim::image::disassemble(&self.image)
    }

    /// Return the program as an image file (`.npi`), as read by `npsim.load` and
    /// `npsim.read_image`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.image.to_file_bytes())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<u8>, &str))> {
        let again = py.import("npsim")?.getattr("_program_again")?;
        Ok((
            again,
            (self.to_bytes(py), self.microengines.clone(), &self.source),
        ))
    }

    fn __len__(&self) -> usize {
        self.image.words.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<npsim.Program {}: {} words>",
            self.source,
            self.image.words.len()
        )
    }
}

/// Assemble the text of one source, as if it were in a file, and return the program.
///
/// `chip` is a chip profile (`ixp2400`, `ixp2800`). `define` maps names to values that are defined
/// before the first line. Raises `npsim.Error` with the assembler's messages if the text does not
/// assemble.
#[pyfunction]
#[pyo3(signature = (text, *, chip = None, define = None))]
pub fn assemble(
    py: Python<'_>,
    text: &str,
    chip: Option<Bound<'_, PyAny>>,
    define: Option<Bound<'_, PyDict>>,
) -> PyResult<Program> {
    let files: MemoryFiles = [("source.uc", text)].into_iter().collect();
    let overrides = Overrides {
        chip: chip.map(|chip| text_of("chip", &chip)).transpose()?,
        defines: pairs("define", define.as_ref())?,
        ..Overrides::default()
    };
    let system =
        py.detach(|| System::load_with(&files, "source.uc", &overrides, &npsim::registry()));
    let system = system.map_err(|it| error::problems(&it))?;
    let program = &system.programs()[0];
    Ok(Program::new(
        program.image.clone(),
        Vec::new(),
        "source.uc".to_owned(),
    ))
}

/// Disassemble words to canonical assembly, which assembles to the same words again.
///
/// `words` are 40-bit numbers, such as `Program.words`; a word that is not an instruction is shown
/// as `.word`. Raises `npsim.Error` if a number has more than 40 bits.
#[pyfunction]
pub fn disassemble(words: Vec<u64>) -> PyResult<String> {
    if let Some((at, word)) = words.iter().enumerate().find(|(_, word)| **word >> 40 != 0) {
        let message = format!("words[{at}] is {word:#x}, and an instruction has 40 bits");
        return Err(error::mistake(
            message,
            "the parity bits are not part of it",
        ));
    }
    Ok(npsim::image::disassemble(&Image::from_words(
        "words", words,
    )))
}

/// Read assembled firmware, and return a list of the programs in the file.
///
/// The file is an image (`.npi`), or words as text (`.hex`) or bytes (`.bin`). Raises `npsim.Error`
/// if it cannot be read.
#[pyfunction]
pub fn read_image(path: PathBuf) -> PyResult<Vec<Program>> {
    let parts = firmware_file::read(&Disk, &path).map_err(|it| error::problem(&it))?;
    let parts = parts
        .into_iter()
        .map(|part| Program::new(part.image, part.microengines, path.display().to_string()));
    Ok(parts.collect())
}

/// Recreate a program sent from another process.
#[pyfunction]
#[pyo3(name = "_program_again")]
pub fn program_again(image: &[u8], microengines: Vec<u8>, source: String) -> PyResult<Program> {
    let image = Image::from_file_bytes(image);
    let image = image.map_err(|it| error::mistake(it.to_string(), ""))?;
    Ok(Program::new(image, microengines, source))
}
