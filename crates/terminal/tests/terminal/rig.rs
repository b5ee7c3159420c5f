//! Systems behind a screen that a test can read.

use std::env::set_current_dir;
use std::path::{Path, PathBuf};
use std::sync::Once;

use npsim_debug::Debugger;
use npsim_debug::timeline::{NoDebug, Setup};
use npsim_engine::ENGINE;
use npsim_net::load::Load;
use npsim_project::assemble::{Program, assemble_project};
use npsim_project::{Overrides, Project};
use npsim_session::simulation::{RunSettings, Simulation};
use npsim_terminal::{Interface, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files are named relative to the root of the repository, on any machine.
fn enter_root() {
    static ENTERED: Once = Once::new();
    ENTERED.call_once(|| set_current_dir(root()).unwrap());
}

pub fn read(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// A system with its traffic.
pub struct System {
    project: Project,
    programs: Vec<Program>,
    load: Option<Load>,
}

impl System {
    pub fn of(target: &str, rate: Option<&str>) -> Self {
        enter_root();
        let overrides = Overrides {
            include: vec!["microcode/lib".into(), "microcode".into()],
            ..Overrides::default()
        };
        let registry = npsim_protocols::registry();
        let project = Project::load(Path::new(target), &overrides, &registry).unwrap();
        let (programs, messages) = assemble_project(&project);
        let programs = programs.unwrap_or_else(|| panic!("{:?}", messages.rendered));
        let load = rate.map(|rate| {
            let load = Load {
                rate: Some(rate.parse().unwrap()),
                time: "300us".parse().unwrap(),
                ..Load::default()
            };
            npsim_project::load::resolved(load, &project)
        });
        Self {
            project,
            programs,
            load,
        }
    }

    pub fn wire8() -> Self {
        Self::of("microcode/tutorial/wire8.uc", Some("0.5"))
    }

    pub fn router() -> Self {
        Self::of("microcode/router", Some("1"))
    }

    pub fn debugger(&self) -> Debugger {
        let settings = RunSettings {
            drain: self.load.is_some().then_some(60_000),
            ..RunSettings::new(ENGINE)
        };
        let frames = self.load.as_ref().map(|load| {
            let frames = npsim_project::load::generator(load, &self.project).unwrap();
            let frames: npsim_session::links::Frames = Box::new(frames.map(Ok));
            frames
        });
        let setup = Setup {
            simulation: Simulation::new(&self.project, &self.programs, settings).unwrap(),
            frames: NoDebug(frames.unwrap_or_else(|| Box::new(std::iter::empty()))),
            until: None,
            hertz: self.project.capacity.hertz,
            budget: 512 << 20,
        };
        Debugger::new(setup, &self.project, &[]).unwrap()
    }

    pub fn screen(&self, width: u16, height: u16) -> Screen {
        self.screen_in(width, height, Theme { colour: true })
    }

    pub fn screen_in(&self, width: u16, height: u16, theme: Theme) -> Screen {
        Screen {
            interface: Interface::new(self.debugger(), &read, theme),
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
        }
    }
}

/// A screen and the keys before it.
pub struct Screen {
    pub interface: Interface<'static>,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
    }

    pub fn press(&mut self, code: KeyCode) {
        self.interface.key(KeyEvent::from(code));
    }

    /// Letters, one after the other.
    pub fn keys(&mut self, letters: &str) {
        for letter in letters.chars() {
            self.press(KeyCode::Char(letter));
        }
    }

    /// A command of the console.
    pub fn command(&mut self, line: &str) {
        self.keys(":");
        self.keys(line);
        self.press(KeyCode::Enter);
    }

    pub fn buffer(&mut self) -> Buffer {
        self.terminal
            .draw(|frame| self.interface.draw(frame))
            .unwrap();
        self.terminal.backend().buffer().clone()
    }

    /// The screen, line by line.
    pub fn text(&mut self) -> String {
        lines(&self.buffer()).join("\n") + "\n"
    }
}

pub fn lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    (0..area.height)
        .map(|y| {
            let cells = (0..area.width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        })
        .collect()
}

/// Compares a text with a file, or rewrites the file.
pub fn assert_matches_file(text: &str, file: &Path) {
    if std::env::var_os("NPSIM_UPDATE_SCREENS").is_some() {
        std::fs::write(file, text).unwrap();
    }
    let known = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        known == text,
        "{} is another screen now; see it, and write it with NPSIM_UPDATE_SCREENS=1:\n{text}",
        file.display()
    );
}
