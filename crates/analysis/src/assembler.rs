//! What only the whole assembler knows. It takes longest, so that it can be found out on a thread
//! of its own, for the newest version of a program alone.

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
    /// Of the reading that asks for it.
    pub(crate) number: u64,
    /// What is assembled.
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
    /// What the assembler said.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What each word costs on the project's chip; empty if the program has errors or
    /// the chip is not known.
    pub(crate) costs: Vec<Cost>,
}

impl Job {
    /// Assembles the program. An assembler that panics, which is a bug, says nothing: a text that
    /// is being typed must never end a server.
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
