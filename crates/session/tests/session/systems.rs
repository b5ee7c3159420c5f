//! Shipped systems with traffic.

use std::path::Path;

use npsim_engine::ENGINE;
use npsim_net::LineFrame;
use npsim_net::load::Load;
use npsim_project::assemble::{Program, assemble_project};
use npsim_project::{Overrides, Project};
use npsim_session::session::{Endpoints, Plan, Session};
use npsim_session::simulation::RunSettings;

/// A project with its traffic.
pub struct System {
    pub project: Project,
    pub programs: Vec<Program>,
    frames: Vec<LineFrame>,
}

impl System {
    /// A system below `microcode` with small packets, for the given time at the given rate.
    pub fn new(name: &str, settings: &[&str], rate: &str, time: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../microcode")
            .join(name);
        let overrides = Overrides {
            set: settings.iter().map(|text| text.parse().unwrap()).collect(),
            ..Overrides::default()
        };
        let project = Project::load(&path, &overrides, &npsim_protocols::registry()).unwrap();
        let programs = assemble_project(&project).0.unwrap();
        let load = Load {
            rate: Some(rate.parse().unwrap()),
            time: time.parse().unwrap(),
            ..Load::default()
        };
        let load = npsim_project::load::resolved(load, &project);
        let frames = npsim_project::load::generator(&load, &project).unwrap();
        Self {
            frames: frames.collect(),
            project,
            programs,
        }
    }

    /// A session at cycle 0.
    pub fn session(&self) -> Session {
        self.session_with(RunSettings::new(ENGINE))
    }

    /// A session with the given settings.
    pub fn session_with(&self, settings: RunSettings) -> Session {
        let plan = Plan::one(self.project.clone(), self.programs.as_slice(), settings);
        let ends = Endpoints {
            frames: Some(Box::new(self.frames.clone().into_iter().map(Ok))),
            ..Endpoints::default()
        };
        Session::new(&plan, ends).unwrap()
    }
}
