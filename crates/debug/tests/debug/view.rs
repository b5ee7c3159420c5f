//! The view of a stop equals the chip's state, as data.

use npsim_debug::console::execute;
use npsim_debug::history::{Fate, History};
use npsim_debug::view::{ContextActivity, RingKind, StopReason, StopView};
use npsim_inspect::Inspect;

use crate::rig::System;

#[test]
fn stop_view_agrees_with_the_console() {
    let mut debugger = System::forward().debugger();
    debugger.goto(60_000);
    let history = History::of(&debugger, 58_000);
    let view = StopView::of(&debugger, &history);
    assert_eq!((view.cycle, view.hertz), (60_000, 600_000_000));
    assert_eq!(view.reason, StopReason::Goto);
    let lines = execute(&mut debugger, &|_| None, "contexts").unwrap().lines;
    assert_eq!(lines.len(), view.contexts.len());
    for (context, line) in view.contexts.iter().zip(&lines) {
        let word = match &context.activity {
            ContextActivity::Inactive => "inactive".to_owned(),
            ContextActivity::Ready => "ready".to_owned(),
            ContextActivity::Executing => "executing".to_owned(),
            ContextActivity::Killed => "killed".to_owned(),
            ContextActivity::Waiting { missing, .. } => format!("waiting for {}", missing[0]),
        };
        let frame = &context.frames[0];
        let place = format!("{}:{}", frame.file, frame.line);
        let since = format!("since cycle {}", context.since);
        for part in [&context.thread.to_string(), &word, &place, &since] {
            assert!(line.contains(part), "{line}: {part}");
        }
    }
    let waiting = |it: &&ContextActivity| matches!(it, ContextActivity::Waiting { .. });
    let activities = || view.contexts.iter().map(|it| &it.activity);
    assert!(activities().any(|it| waiting(&it)) && !activities().all(|it| waiting(&it)));
}

#[test]
fn stop_view_contains_rings_packets_and_lanes() {
    let mut debugger = System::forward().debugger();
    debugger.goto(60_000);
    let history = History::of(&debugger, 58_000);
    let view = StopView::of(&debugger, &history);
    let inspect = Inspect::new(debugger.chip());
    let scratch = view.rings.iter();
    let scratch = scratch.filter(|it| matches!(it.kind, RingKind::Scratch { .. }));
    let sizes: Vec<_> = scratch.map(|it| it.fill).collect();
    let filled: u32 = (0..16)
        .filter_map(|number| Some(inspect.ring(number)?.words.len() as u32))
        .sum();
    assert_eq!(sizes.iter().sum::<u32>(), filled);
    for ring in &view.rings {
        assert!(ring.words.len() >= ring.fill as usize || matches!(ring.kind, RingKind::Queue));
    }
    let left = view.packets.iter();
    let left = left.filter(|it| matches!(it.packet.fate, Fate::Left { .. }));
    assert!(left.count() > 0 && view.packets.iter().any(|it| it.buffers.is_some()));
    assert!(view.packets.is_sorted_by_key(|it| it.number));
    assert_eq!(view.lanes.len(), view.contexts.len());
    for lane in &view.lanes {
        let last = lane.stretches.iter().map(|it| it.1).max();
        assert!(last.is_none_or(|last| last <= 60_000), "{lane:?}");
    }
    assert!(view.lanes.iter().any(|it| !it.stretches.is_empty()));
}

#[test]
fn stop_view_json_has_tagged_states() {
    let mut debugger = System::wire8().debugger();
    debugger.goto(20_000);
    let history = History::of(&debugger, 19_000);
    let text = serde_json::to_value(StopView::of(&debugger, &history)).unwrap();
    assert_eq!(text["reason"]["kind"], "goto");
    assert_eq!(text["selected"]["me"], debugger.thread().me);
    let context = &text["contexts"][0];
    assert!(context["activity"]["state"].is_string(), "{context}");
    assert!(context["frames"][0]["line"].as_u64().unwrap() > 0);
}
