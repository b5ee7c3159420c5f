//! The thread that assembles. What only the whole assembler knows takes longest, so that
//! it is found out beside the answers, for the newest version of a program alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use npsim_asm::Diagnostic;
use npsim_image::{FlowGraph, Image};

use super::documents::Overlay;
use super::roots::Root;
use npsim::explain::{Cost, costs};
use npsim::includes::FileIncludes;

/// A program to assemble.
#[derive(Debug)]
pub struct Job {
    /// Of the reading that asks for it.
    pub number: u64,
    /// What is assembled.
    pub root: Root,
    /// The texts as they were read.
    pub files: Overlay,
}

/// What became of a [`Job`].
#[derive(Debug)]
pub struct Done {
    /// That of the job.
    pub number: u64,
    /// What was found out.
    pub assembled: Assembled,
}

/// What only the whole assembler knows of a program.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// The program, if it has no errors.
    pub image: Option<Image>,
    /// What the assembler said.
    pub diagnostics: Vec<Diagnostic>,
    /// What each word costs on the project's chip; empty if the program has errors or
    /// the chip is not known.
    pub costs: Vec<Cost>,
}

/// Starts a thread that does one job after the other, until the last sender is gone.
pub fn start<E: From<Done> + Send + 'static>(events: Sender<E>) -> Sender<Job> {
    let (jobs, receiver): (Sender<Job>, Receiver<Job>) = channel();
    std::thread::spawn(move || {
        for job in receiver {
            let done = Done {
                number: job.number,
                // A text that is being typed must never end the server.
                assembled: catch_unwind(AssertUnwindSafe(|| assembled(&job))).unwrap_or_default(),
            };
            if events.send(done.into()).is_err() {
                break;
            }
        }
    });
    jobs
}

fn assembled(Job { root, files, .. }: &Job) -> Assembled {
    let includes = FileIncludes::new(files, &root.include);
    let main = root.main.display().to_string();
    let assembly = npsim_asm::assemble(&main, &includes, &root.options);
    let costs = match (&assembly.image, &root.profile) {
        (Some(image), Some(profile)) => costs(&FlowGraph::of(image), profile),
        _ => Vec::new(),
    };
    Assembled {
        image: assembly.image,
        diagnostics: assembly.diagnostics,
        costs,
    }
}
