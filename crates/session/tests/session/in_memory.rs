//! A project that exists only in memory is loaded, assembled and run as from the disk.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use npsim_engine::ENGINE;
use npsim_net::load::Load;
use npsim_project::assemble::assemble_project_from;
use npsim_project::files::{Disk, Files, MemoryFiles};
use npsim_project::{Overrides, Project};
use npsim_session::session::{Endpoints, Plan, Session};
use npsim_session::simulation::RunSettings;
use npsim_session::summary::summary;

/// Loads, assembles and runs a project; returns the words of its microengines and the result of the
/// run.
fn run(files: &dyn Files, target: &Path) -> (Vec<Vec<u64>>, String) {
    let registry = npsim_protocols::registry();
    let project = Project::load_from(files, target, &Overrides::default(), &registry)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let (programs, messages) = assemble_project_from(files, &project, &[]);
    let programs = programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")));
    let load = Load {
        rate: Some("0.5".parse().unwrap()),
        time: "100us".parse().unwrap(),
        ..Load::default()
    };
    let load = npsim_project::load::resolved(load, &project);
    let frames = npsim_project::load::generator(&load, &project).unwrap();
    let settings = RunSettings {
        drain: Some(60_000),
        ..RunSettings::new(ENGINE)
    };
    let plan = Plan::one(project, programs.as_slice(), settings);
    let ends = Endpoints {
        frames: Some(Box::new(frames.map(Ok))),
        ..Endpoints::default()
    };
    let mut session = Session::new(&plan, ends).unwrap();
    session.run(&mut |_| ControlFlow::Continue(()));
    session.finish().unwrap();
    assert!(session.node(0).traffic().sent_frames > 0);
    let words = programs.iter().map(|program| program.image.words.clone());
    (words.collect(), summary(&session.stats(), None, 100))
}

#[test]
fn project_in_memory_runs_as_from_disk() {
    let microcode = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
    // A project that extends another: project files, sources and includes in three folders.
    let mut found = BTreeSet::new();
    for folder in ["forward", "router", "quick-start", "rcp", "lib"] {
        for ending in ["uc", "toml"] {
            super::microcode::files(&microcode.join(folder), ending, &mut found);
        }
    }
    let files: MemoryFiles = found
        .iter()
        .map(|path| {
            let place = path.strip_prefix(&microcode).unwrap();
            (place, std::fs::read(path).unwrap())
        })
        .collect();
    for target in ["forward", "rcp/npsim.toml"] {
        let (words, report) = run(&files, Path::new(target));
        let (words_there, report_there) = run(&Disk, &microcode.join(target));
        assert_eq!(words, words_there, "{target}");
        assert_eq!(report, report_there, "{target}");
    }
    let project = |target: &str| {
        let registry = npsim_protocols::registry();
        Project::load_from(&files, Path::new(target), &Overrides::default(), &registry)
    };
    let problems = project("lib").unwrap_err().to_string();
    assert!(
        problems.contains("here are the sources `lib/atomic.uc`"),
        "{problems}"
    );
    let problems = project("nowhere").unwrap_err().to_string();
    assert!(
        problems.contains("check the spelling of the path"),
        "{problems}"
    );
}
