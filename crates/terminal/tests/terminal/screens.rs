//! Screens at given cycles.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use npsim_terminal::Theme;

use crate::rig::{Screen, System, assert_matches_file, lines, root};

fn assert_known_screen(screen: &mut Screen, name: &str) {
    let file = root().join("crates/terminal/tests/screens").join(name);
    assert_matches_file(&screen.text(), &file);
}

#[test]
fn step_back_restores_the_small_system_screen() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    screen.command("break wire8.uc:46");
    screen.command("goto 9000");
    screen.keys("c");
    assert_known_screen(&mut screen, "wire8.txt");
    let stood = lines(&screen.buffer());
    screen.keys("nn");
    assert_known_screen(&mut screen, "wire8-two-lines-on.txt");
    screen.keys("NN");
    let back = lines(&screen.buffer());
    // Everything except the reason for the stop, and the console, which keeps its history.
    let console = stood
        .iter()
        .position(|it| it.contains(" Console "))
        .unwrap();
    assert_eq!(back[1..console], stood[1..console]);
}

#[test]
fn step_back_restores_the_large_router_screen() {
    let system = System::router();
    let mut screen = system.screen(160, 50);
    screen.command("goto 60000");
    screen.keys("u");
    assert_known_screen(&mut screen, "router.txt");
    let stood = lines(&screen.buffer());
    screen.keys("s");
    let stepped = lines(&screen.buffer());
    assert_ne!(stepped[0], stood[0]);
    screen.keys("S");
    let console = stood
        .iter()
        .position(|it| it.contains(" Console "))
        .unwrap();
    let back = lines(&screen.buffer());
    assert_eq!(back[..console], stood[..console]);
}

#[test]
fn macros_are_expanded_in_place_or_folded() {
    let system = System::wire8();
    let mut screen = system.screen(100, 60);
    screen.command("break rbuf.uc:71");
    screen.keys("c");
    let open = screen.text();
    assert!(open.contains("▷  49 "), "{open}");
    assert!(open.contains("│ #macro receive_store"), "{open}");
    assert!(open.contains("●▶  71 │ "), "{open}");
    screen.keys("f");
    let folded = screen.text();
    assert!(
        !folded.contains('▷') && !folded.contains("#macro "),
        "{folded}"
    );
    assert!(folded.contains('▶'));
}

#[test]
fn every_pane_can_be_seen_on_the_smallest_screen() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    screen.command("goto 12000");
    for (key, name) in [
        "Source", "Names", "Rings", "Units", "Packets", "Contexts", "Console",
    ]
    .iter()
    .enumerate()
    {
        screen.press(KeyCode::Char(char::from(b'1' + key as u8)));
        let text = screen.text();
        assert!(text.contains(&format!("━ {name} ")), "{text}");
        screen.keys("z");
        let alone = screen.text();
        assert!(alone.contains(&format!("━ {name} ")), "{alone}");
        assert!(!alone.contains('─') || *name == "Contexts", "{alone}");
        screen.press(KeyCode::Esc);
    }
}

#[test]
fn screens_of_any_size_are_drawn() {
    let system = System::router();
    let mut screen = system.screen(80, 24);
    screen.command("goto 30000");
    for (width, height) in [
        (1, 1),
        (20, 5),
        (40, 12),
        (79, 23),
        (120, 40),
        (200, 60),
        (300, 100),
    ] {
        screen.resize(width, height);
        for alone in [false, true] {
            let text = screen.text();
            assert_eq!(text.lines().count(), usize::from(height));
            if alone {
                screen.press(KeyCode::Esc);
            } else {
                screen.keys("z");
            }
        }
    }
}

#[test]
fn colourless_theme_draws_no_colours() {
    let system = System::wire8();
    let mut coloured = system.screen(80, 24);
    let mut plain = system.screen_in(80, 24, Theme { colour: false });
    for screen in [&mut coloured, &mut plain] {
        screen.command("break wire8.uc:46");
        screen.keys("c");
    }
    let coloured = coloured.buffer();
    let plain = plain.buffer();
    let colours = |buffer: &ratatui::buffer::Buffer| {
        let of = |it: &&ratatui::buffer::Cell| it.fg != Color::Reset || it.bg != Color::Reset;
        buffer.content().iter().filter(of).count()
    };
    assert!(colours(&coloured) > 0);
    assert_eq!(colours(&plain), 0);
    assert_eq!(lines(&plain), lines(&coloured), "the text says the same");
}

#[test]
fn program_without_source_is_shown_as_words() {
    let system = System::wire8();
    let debugger = system.debugger();
    let nothing = |_: &str| None;
    let mut interface = npsim_terminal::Interface::new(debugger, &nothing, Theme { colour: true });
    let backend = ratatui::backend::TestBackend::new(80, 24);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    interface.key(KeyEvent::from(KeyCode::Char(' ')));
    terminal.draw(|frame| interface.draw(frame)).unwrap();
    let text = lines(terminal.backend().buffer()).join("\n");
    assert!(text.contains("●▶   0 "), "{text}");
}

#[test]
fn the_help_has_every_key_and_every_command() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    screen.keys("?");
    let mut seen = String::new();
    let mut last = String::new();
    loop {
        let text = screen.text();
        if text == last {
            break;
        }
        seen += &text;
        last = text;
        screen.press(KeyCode::PageDown);
    }
    for key in npsim_terminal::KEYS {
        assert!(
            seen.contains(&format!(" {}", key.label())),
            "{}",
            key.label()
        );
    }
    for command in npsim_debug::console::COMMANDS {
        assert!(
            seen.contains(&format!(" {}", command.name)),
            "{}",
            command.name
        );
    }
    screen.keys("x");
    assert!(!screen.text().contains("━ Help"));
}

#[test]
fn second_consecutive_ctrl_c_quits() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    screen.interface.key(interrupt);
    assert!(screen.text().contains("Ctrl-C again ends the debugger"));
    screen.keys("n");
    screen.interface.key(interrupt);
    assert!(!screen.interface.quits(), "another key came between");
    screen.interface.key(interrupt);
    assert!(screen.interface.quits());
}
