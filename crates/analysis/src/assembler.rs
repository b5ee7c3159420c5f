//! Results that require the whole assembler. This takes longest, so it can run on a thread of its
//! own, and only for the newest version of a program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use npsim_asm::Diagnostic;
use npsim_image::{FlowGraph, Image};
use npsim_project::includes::FileIncludes;

use super::explain::{Cost, costs};
use super::roots::Root;
use npsim_project::files::Overlay;

/// A program to assemble.
#[derive(Debug)]
pub struct Job {
    /// The number of the reading that requested it.
    pub(crate) number: u64,
    /// The program's root.
    pub(crate) root: Root,
    /// The texts as they were read.
    pub(crate) files: Overlay,
}

/// The outcome of a [`Job`].
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// The number of the job.
    pub(crate) number: u64,
    /// The program, if it has no errors.
    pub(crate) image: Option<Image>,
    /// The assembler's messages.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The cost of each word on the project's chip; empty if the program has errors or the chip is
    /// unknown.
    pub(crate) costs: Vec<Cost>,
}

impl Job {
    /// Assembles the program. If the assembler panics, which is a bug, the results are empty: text
    /// that is being typed must never end a server.
    #[must_use]
    pub fn run(self) -> Assembled {
        let assembled = catch_unwind(AssertUnwindSafe(|| self.assembled()));
        Assembled {
            number: self.number,
            ..assembled.unwrap_or_default()
        }
    }

    fn assembled(&self) -> Assembled {
        let root = &self.root;
        let includes = FileIncludes::new(&self.files, &root.include);
        let main = root.main.display().to_string();
        let assembly = npsim_asm::assemble(&main, &includes, &root.options);
        let costs = match (&assembly.image, &root.profile) {
            (Some(image), Some(profile)) => costs(&FlowGraph::of(image), profile),
            _ => Vec::new(),
        };
        Assembled {
            number: self.number,
            image: assembly.image,
            diagnostics: assembly.diagnostics,
            costs,
        }
    }
}
