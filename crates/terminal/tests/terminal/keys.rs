//! Keys lead to the same state as the corresponding console commands.

use npsim_debug::Debugger;
use npsim_debug::console::execute;
use npsim_debug::timeline::TimePoint;
use npsim_debug::{Direction, Step, Thread};
use ratatui::crossterm::event::KeyCode;

use crate::rig::{Screen, System, read};

/// The position of a debugger.
fn place(debugger: &Debugger) -> (TimePoint, Thread, u16, usize) {
    let thread = debugger.thread();
    let frames = debugger.frames(thread).len();
    (
        debugger.timeline().moment(),
        thread,
        debugger.pc(thread),
        frames,
    )
}

#[test]
fn keys_reach_the_same_state_as_commands() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    let mut debugger = system.debugger();
    let script = [
        ("n", "next"),
        ("n", "next"),
        ("s", "step"),
        ("i", "instruction"),
        ("N", "back next"),
        ("u", "run"),
        ("a", "any"),
        ("A", "back any"),
        ("I", "back instruction"),
        ("S", "back step"),
        ("k", "wake"),
        ("U", "back run"),
        ("n", "next"),
    ];
    for (key, command) in script {
        screen.keys(key);
        // An action that is not possible there is an error in both.
        let done = execute(&mut debugger, &read, command).map_err(|it| it.to_string());
        if let Err(message) = done {
            assert_eq!(screen.interface.answers().last(), Some(message.as_str()));
        }
        assert_eq!(
            place(screen.interface.debugger()),
            place(&debugger),
            "{key} and {command}"
        );
    }
}

#[test]
fn source_breakpoint_stops_in_both_directions() {
    let system = System::wire8();
    let mut screen = system.screen(100, 40);
    screen.keys("/receive_free");
    screen.press(KeyCode::Enter);
    screen.keys(" ");
    assert!(screen.text().contains('●'), "{}", screen.text());
    screen.keys("cc");
    let mut debugger = system.debugger();
    for command in ["break wire8.uc:50", "continue", "continue"] {
        execute(&mut debugger, &read, command).unwrap();
    }
    let title = &debugger.breakpoints()[0].title;
    assert_eq!(&screen.interface.debugger().breakpoints()[0].title, title);
    let second = place(&debugger);
    assert_eq!(place(screen.interface.debugger()), second);
    screen.keys("Cc");
    assert_eq!(place(screen.interface.debugger()), second);
    // Pressing the key again removes it.
    screen.keys(" ");
    assert!(screen.interface.debugger().breakpoints().is_empty());
}

#[test]
fn g_goes_to_a_cycle() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    screen.keys("g12345");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.interface.debugger().cycle(), 12345);
    assert!(screen.text().contains("cycle 12345 (20.575us)"));
    // An error is shown, and keys act as keys again.
    screen.keys("gnowhere");
    screen.press(KeyCode::Enter);
    assert!(screen.text().contains("write a cycle"), "{}", screen.text());
    screen.keys("n");
    assert!(screen.interface.debugger().cycle() > 12345);
}

#[test]
fn interrupted_goto_stops_where_it_is() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    debugger.set_interrupt_check(|cycle| cycle >= 100_000);
    let stop = debugger.goto(170_000);
    assert_eq!(stop.reason, npsim_debug::StopCause::Interrupted);
    let come = debugger.cycle();
    assert!((100_000..150_000).contains(&come), "{come}");
    // Cancelling has changed nothing.
    debugger.set_interrupt_check(|_| false);
    let thread = debugger.thread();
    debugger.step(Step::Instruction, Direction::Forward);
    debugger.step(Step::Instruction, Direction::Back);
    assert_eq!((debugger.cycle(), debugger.thread()), (come, thread));
}

#[test]
fn commands_are_completed_and_recalled() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    screen.keys(":con");
    screen.press(KeyCode::Tab);
    assert!(screen.text().contains("> cont\n"), "{}", screen.text());
    // The names have no longer prefix in common: the choices are shown.
    screen.press(KeyCode::Tab);
    assert!(screen.text().contains("context  contexts  continue"));
    screen.press(KeyCode::Esc);
    screen.keys(":disab");
    screen.press(KeyCode::Tab);
    // Further input is typed after a blank.
    screen.keys("7");
    assert!(screen.text().contains("> disable 7"), "{}", screen.text());
    screen.press(KeyCode::Esc);
    screen.command("goto 9000");
    screen.keys(":");
    screen.press(KeyCode::Up);
    screen.press(KeyCode::Backspace);
    screen.keys("1");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.interface.debugger().cycle(), 9001);
}

#[test]
fn enter_opens_packet_events_and_jumps_to_their_time() {
    let system = System::wire8();
    let mut screen = system.screen(120, 40);
    screen.command("goto 12000");
    screen.keys("5");
    let packets = screen.text();
    assert!(packets.contains(" came, "), "{packets}");
    screen.press(KeyCode::End);
    screen.press(KeyCode::Enter);
    let events = screen.text();
    assert!(events.contains("━ Packets packet "), "{events}");
    assert!(events.contains("starts to arrive at port"), "{events}");
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Enter);
    let goes = screen
        .interface
        .answers()
        .filter(|it| it.starts_with("goto packet "));
    let command = goes.last().unwrap().to_owned();
    let mut debugger = system.debugger();
    execute(&mut debugger, &read, "goto 12000").unwrap();
    execute(&mut debugger, &read, &command).unwrap();
    assert_eq!(place(screen.interface.debugger()), place(&debugger));
    screen.press(KeyCode::Esc);
    assert!(screen.text().contains(" came, "));
}

#[test]
fn pane_entries_open_their_details() {
    let system = System::router();
    let mut screen = system.screen(120, 40);
    screen.command("goto 40000");
    // Names: its writer.
    screen.keys("2");
    screen.press(KeyCode::Enter);
    assert!(screen.interface.answers().any(|it| it.starts_with("who ")));
    // Rings: its contents.
    screen.keys("3");
    screen.press(KeyCode::Enter);
    assert!(screen.interface.answers().any(|it| it.starts_with("ring ")));
    // Units: the issuer of the command.
    screen.keys("4");
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Enter);
    let asked = screen
        .interface
        .answers()
        .filter_map(|it| it.strip_prefix("context "));
    let asked: Thread = asked.last().unwrap().parse().unwrap();
    assert_eq!(screen.interface.debugger().thread(), asked);
    // Contexts: arrows select one, and so do brackets.
    screen.keys("6");
    screen.press(KeyCode::Home);
    assert_eq!(
        screen.interface.debugger().thread(),
        Thread { me: 0, context: 0 }
    );
    screen.press(KeyCode::Down);
    screen.keys("]");
    assert_eq!(
        screen.interface.debugger().thread(),
        Thread { me: 0, context: 2 }
    );
    screen.keys("[");
    assert_eq!(
        screen.interface.debugger().thread(),
        Thread { me: 0, context: 1 }
    );
}

#[test]
fn lanes_are_zoomed() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    screen.command("goto 20000");
    assert!(screen.text().contains("10 a column"));
    screen.keys("--");
    assert!(screen.text().contains("50 a column"));
    screen.keys("+++++++++");
    assert!(
        screen.text().contains("to 20000, 1 a column"),
        "{}",
        screen.text()
    );
}

#[test]
fn jumps_are_undone_and_redone() {
    let system = System::wire8();
    let mut screen = system.screen(80, 24);
    let stands = |screen: &Screen| {
        let (moment, thread, pc, _) = place(screen.interface.debugger());
        (moment, thread, pc)
    };
    screen.keys("nn");
    let first = stands(&screen);
    screen.command("goto 9000");
    screen.keys("n");
    let second = stands(&screen);
    screen.command("break wire8.uc:50");
    screen.keys("c");
    let third = stands(&screen);
    screen.keys("b");
    assert_eq!(stands(&screen), second);
    screen.keys("b");
    assert_eq!(stands(&screen), first);
    screen.keys("b");
    assert_eq!(stands(&screen), first, "there was none before");
    screen.keys("BB");
    assert_eq!(stands(&screen), third);
    // Another jump from the middle discards the later positions.
    screen.keys("b");
    screen.command("goto 1000");
    screen.keys("B");
    assert_eq!(screen.interface.debugger().cycle(), 1000);
    screen.keys("b");
    assert_eq!(stands(&screen), second);
}
