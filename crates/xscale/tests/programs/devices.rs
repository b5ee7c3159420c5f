//! The windows of the memory map, as programs use them.

use npsim_chip::gpp::{InterruptLine, Memories, Task};
use npsim_chip::kernel::sideband::Interrupts;

use crate::bench::Running;

const HELLO: &str = "import = { GIVEN = 9 }\ninput = [{ at = \"1ms\", text = \"ab\" }, { at = \"2ms\", text = \"c.\" }]\n";

#[test]
fn uart_sends_and_receives_text() {
    let mut running = Running::new("hello", HELLO);
    running.run_until(500_000);
    let head =
        "hello\n00000000\n00000007\n00000009\n00000002\n01020304\n00000001\n0a010001\n02faf080\n";
    assert_eq!(running.text(), head);
    let polls = running.count("sleeps");
    assert!(polls > 0, "a program that polls the UART sleeps");
    running.run_until(700_000);
    assert_eq!(running.text(), format!("{head}ab"));
    assert!(!running.processor().has_ended());
    let running = running.run_without_fault(1_300_000);
    assert_eq!(running.text(), format!("{head}abc"));
    assert!(running.processor().has_ended());
    let memories = Memories {
        scratch: &running.bench.units.scratch,
        sram: &running.bench.units.sram,
    };
    let summary = running.processor().summary(memories);
    assert!(
        summary[0].starts_with("program.elf: ") && summary[0].ends_with(", ended"),
        "{summary:?}"
    );
    assert!(summary.contains(&"uart: hello".to_owned()), "{summary:?}");
}

#[test]
fn byte_orders_differ_only_in_bytes_of_longwords() {
    let big = Running::new("hello", HELLO)
        .run_without_fault(1_300_000)
        .text();
    let little = Running::new("hello-little", HELLO)
        .run_without_fault(1_300_000)
        .text();
    assert_eq!(big.replace("01020304", "04030201"), little);
}

#[test]
fn alias_windows_perform_atomic_operations() {
    let running = Running::new("atomics", "").run_without_fault(2_000_000);
    assert!(running.processor().has_ended());
    let word = |at: u32| running.scratch(0x3000 + 4 * at);
    let first = 0xff & !0x0f | 0x101;
    assert_eq!(word(1), first + 0x1000, "SWP gives the longword as it was");
    assert_eq!(word(2), first + 0x0fff, "and adds to it");
    assert_eq!([word(3), word(4)], [5, 6]);
    assert_eq!(word(5), (6 | 1) + 3);
    assert_eq!(word(6), 0x00ab_000a, "a byte of a longword");
    let buffers = running.project.boot.buffers.unwrap();
    assert_eq!(word(7), buffers.first_descriptor);
    assert_eq!(word(8), 1, "256 longwords");
    assert_eq!(
        [word(9), word(10)],
        [0x30, 0],
        "a register that clears when it is read"
    );
    let chain = running.bench.units.sram.chain(0, buffers.entry).unwrap();
    assert_eq!(chain.last(), Some(&buffers.first_descriptor));
}

#[test]
fn idle_ring_polling_sleeps_and_wakes_on_data() {
    let mut running = Running::new("echo", "");
    running.run_until(200_000);
    let (instructions, ring) = (running.processor().cpu().instructions(), running.ring(0));
    running.run_until(10_000_000);
    assert_eq!(
        running.processor().cpu().instructions(),
        instructions,
        "an idle program is not simulated"
    );
    running.put(ring, 41);
    running.run_until(10_001_000);
    assert_eq!(running.on_ring(running.ring(1)), [42]);
    assert!(
        running.count("polls") > 10_000,
        "{}",
        running.count("polls")
    );
    assert!(running.count("instructions") > running.count("polls"));
    // Bursts of all lengths come out complete and in order.
    let mut sent = vec![42];
    for burst in 1..15 {
        for word in 0..burst {
            running.put(ring, 100 * burst + word);
            sent.push(100 * burst + word + 1);
        }
        running.run_until(10_000_000 + u64::from(burst) * 50_000);
    }
    let out = running.on_ring(running.ring(1));
    assert_eq!(out, sent);
    assert_eq!(running.fault(), None);
}

#[test]
fn input_arriving_during_loop_detection_is_not_missed() {
    // An iteration takes about 100 cycles, and the third equal one is not simulated.
    for gap in (1..600).step_by(3) {
        let mut running = Running::new("echo", "");
        let ring = running.ring(0);
        running.run_until(100_000);
        running.put(ring, 1);
        running.run_until(100_000 + gap);
        running.put(ring, 2);
        running.run_until(120_000);
        assert_eq!(running.on_ring(running.ring(1)), [2, 3], "{gap}");
        assert_eq!(running.fault(), None);
    }
    for gap in (1..1_000).step_by(5) {
        let keys = format!(
            "import = {{ GIVEN = 9 }}\ninput = [{{ at = \"1ms\", text = \"a\" }}, {{ at = \"{}ns\", text = \"b\" }}]\n",
            1_000_000 + gap
        );
        let text = Running::new("hello", &keys)
            .run_without_fault(620_000)
            .text();
        assert!(text.ends_with("ab"), "{gap}: {text}");
    }
}

#[test]
fn fast_interrupt_ends_a_loop_at_any_time() {
    for program in ["alarm", "alarm-little"] {
        for counts in 1..120 {
            let keys = format!("import = {{ COUNTS = {counts} }}\n");
            let running = Running::new(program, &keys).run_without_fault(100_000);
            assert_eq!(running.text(), "00000001\n", "{counts}");
            assert_eq!(running.count("interrupts"), 1);
            assert!(running.processor().has_ended(), "{counts}");
        }
    }
}

#[test]
fn interrupt_wakes_a_waiting_program() {
    let mut running = Running::new("wake", "");
    running.run_until(100_000);
    let before = running.processor().cpu().instructions();
    running.run_until(5_000_000);
    assert_eq!(running.processor().cpu().instructions(), before);
    let bench = &mut running.bench;
    bench.gpp.interrupt(InterruptLine::A, 3, &mut bench.fabric);
    running.run_until(5_003_000);
    assert_eq!(running.scratch(0x3000), 1);
    // A thread that is not enabled, and the other line, wake nothing.
    let before = running.processor().cpu().instructions();
    for (line, thread) in [(InterruptLine::A, 9), (InterruptLine::B, 3)] {
        let bench = &mut running.bench;
        bench.gpp.interrupt(line, thread, &mut bench.fabric);
    }
    running.run_until(5_100_000);
    assert_eq!(running.processor().cpu().instructions(), before);
    assert_eq!(running.count("interrupts"), 1);
    assert_eq!(running.fault(), None);
}

#[test]
fn a_timer_interrupts_at_its_period() {
    let mut running = Running::new("timer", "");
    // 1000 counts of 50 MHz are 12,000 cycles.
    let mut ticks = Vec::new();
    for cycle in (0..200_000).step_by(100) {
        running.run_until(cycle);
        let count = running.text().matches("tick\n").count();
        if count > ticks.len() {
            ticks.push(cycle);
        }
    }
    assert_eq!(running.fault(), None);
    assert_eq!(running.text(), "tick\ntick\ntick\ntick\ntick\n00000005\n");
    let gaps: Vec<u64> = ticks.windows(2).map(|two| two[1] - two[0]).collect();
    // The first handler runs in an empty cache.
    assert!(gaps[0].abs_diff(12_000) < 1_500, "{gaps:?}");
    assert!(
        gaps[1..].iter().all(|gap| gap.abs_diff(12_000) <= 100),
        "{gaps:?}"
    );
    assert!(running.processor().has_ended());
    assert_eq!(running.count("interrupts"), 5);
    // The wait for a flag in its own memory is not simulated either.
    assert!(running.processor().cpu().instructions() < 5_000);
}
