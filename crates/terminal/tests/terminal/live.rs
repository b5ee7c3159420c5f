//! The screens of a live run.

use npsim_debug::view;
use npsim_terminal::{LivePicture, LiveSection, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::rig::{System, lines};

fn drawn(picture: &LivePicture<'_>, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = Theme { colour: false };
    terminal.draw(|frame| picture.draw(frame, theme)).unwrap();
    lines(terminal.backend().buffer())
}

#[test]
fn live_screen_shows_all_sections_at_every_size() {
    let mut debugger = System::router().debugger();
    npsim_debug::console::execute(&mut debugger, &|_| None, "goto 60000").unwrap();
    let section = LiveSection {
        title: "Bottleneck",
        lines: vec!["a sentence ".repeat(12)],
    };
    let bar = ["host 7 s".to_owned(), "late 2 ms".to_owned()];
    let picture = LivePicture {
        bar: &bar,
        sections: &[section],
        chip: Some((debugger.chip(), debugger.names())),
    };
    for (width, height) in [(160, 50), (100, 40), (80, 50)] {
        let screen = drawn(&picture, width, height);
        let all = screen.join("\n");
        assert!(screen[0].contains("host 7 s │ late 2 ms"), "{all}");
        assert_eq!(all.matches("sentence").count(), 12, "wrapped:\n{all}");
        for ring in view::rings(debugger.chip(), debugger.names()) {
            assert!(all.contains(&ring.name), "{} in\n{all}", ring.name);
        }
        for thread in debugger.threads() {
            let line = format!("{:>3} {}", thread.thread.me, thread.stage);
            let named = screen.iter().any(|it| it.starts_with(&line));
            assert!(named, "{line} in\n{all}");
        }
        assert!(all.contains("waits"), "{all}");
        assert!(screen.last().unwrap().contains("q ends the run"), "{all}");
    }
    // For any screen size.
    for (width, height) in [(1, 1), (10, 2), (40, 3), (200, 4), (12, 30)] {
        drawn(&picture, width, height);
    }
}

#[test]
fn network_live_screen_has_no_contexts() {
    let section = |title, line: &str| LiveSection {
        title,
        lines: vec![line.to_owned()],
    };
    let sections = [
        section("Ports", "port left"),
        section("Queues", "a -> b: 3"),
    ];
    let picture = LivePicture {
        bar: &["host 1 s".to_owned()],
        sections: &sections,
        chip: None,
    };
    let all = drawn(&picture, 80, 24).join("\n");
    assert!(all.contains("Ports") && all.contains("a -> b: 3"), "{all}");
    assert!(!all.contains("Contexts"), "{all}");
}
