//! Forbidden actions of programs stop the chip, with the position.

use npsim_chip::kernel::check::{Check, Fault};

use crate::bench::Running;

/// Runs a case of a program and returns the fault that stops it.
fn fault(program: &str, case: u32) -> Fault {
    let mut running = Running::new(program, &format!("import = {{ CASE = {case} }}\n"));
    running.run_until(3_000_000);
    let fault = running.fault().cloned();
    let fault = fault.unwrap_or_else(|| panic!("case {case} of {program} stops nothing"));
    assert!(fault.help.is_some(), "{fault:?}");
    assert!(running.processor().has_ended());
    fault
}

/// The check and the message of a case of `faults.c`.
fn message(case: u32) -> (Option<Check>, String) {
    let fault = fault("faults", case);
    (fault.check, fault.message)
}

#[test]
fn each_program_error_is_reported_with_its_location() {
    let cases: &[(u32, Option<Check>, &str, &str)] = &[
        (
            1,
            Some(Check::CoreUnwrittenRead),
            "main (faults.c:",
            "reads DRAM at 0x00500000",
        ),
        (
            2,
            Some(Check::CoreCodeWrite),
            "main (faults.c:",
            "stores into its own code",
        ),
        (
            3,
            Some(Check::CoreStack),
            "deeper (faults.c:",
            "stack pointer",
        ),
        (
            4,
            Some(Check::CoreEndlessWait),
            "main (",
            "waits for an interrupt",
        ),
        (
            5,
            Some(Check::CoreDivision),
            "__aeabi_idiv0",
            "divides by zero",
        ),
        (6, None, "0x00500000", "where none of its code is"),
        (7, None, "undefined", "not an instruction"),
        (
            8,
            Some(Check::CoreUnpredictable),
            "main (faults.c:",
            "leaves open",
        ),
        (9, None, "main (faults.c:", "flash memory is not modelled"),
        (11, None, "main (faults.c:", "where nothing is"),
        (
            12,
            Some(Check::CoreEndlessWait),
            "main (faults.c:",
            "repeats a loop",
        ),
        (13, None, "main (faults.c:", "where nothing is"),
        (14, None, "main (faults.c:", "software interrupt"),
        (15, None, "main (faults.c:", "only longwords"),
        (
            16,
            Some(Check::RingOverflow),
            "main (faults.c:",
            "which is full",
        ),
        (18, None, "main (faults.c:", "no such register"),
        (
            20,
            None,
            "main (faults.c:",
            "media interface (MSF) is not modelled",
        ),
    ];
    for (program, (case, check, place, what)) in ["faults", "faults-thumb"]
        .into_iter()
        .flat_map(|it| cases.iter().map(move |case| (it, case)))
    {
        let fault = fault(program, *case);
        assert_eq!(fault.check, *check, "case {case}: {fault:?}");
        // Operations without a Thumb instruction are functions of ARM code, and the position is that of the call.
        let called = |note: &String| program != "faults" && note.contains(place);
        assert!(
            (fault.message.contains(place) || fault.notes.iter().any(called))
                && fault.message.contains(what),
            "case {case} of {program}: {fault:?}"
        );
    }
    let fault = fault("faults-thumb", 19);
    assert!(
        fault.message.contains("main (faults.c:")
            && fault
                .message
                .contains("runs 0x0000de00, which is not an instruction"),
        "{fault:?}"
    );
}

#[test]
fn thumb_division_by_zero_is_traced_to_its_source_line() {
    // That of the compiler's library, in each of its functions; and one of which the function begins in the middle of
    // a longword.
    let line = |text: &str, source: &str| {
        let line = { source.lines() }.position(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("no `{text}`")) + 1
    };
    let division = include_str!("division.c");
    let cases = [
        (
            "division-little",
            1,
            "divides (division.c:",
            line("dividend / zero", division),
        ),
        (
            "division-little",
            2,
            "main (division.c:",
            line("one % zero", division),
        ),
        (
            "division-little",
            3,
            "main (division.c:",
            line("(u32)one / ", division),
        ),
        (
            "division-little",
            4,
            "main (division.c:",
            line("wide_one / wide", division),
        ),
        (
            "division-little",
            5,
            "main (division.c:",
            line("wide_one % ", division),
        ),
        (
            "faults-thumb",
            5,
            "main (faults.c:",
            line("? __aeabi_idiv0(", include_str!("faults.c")),
        ),
    ];
    for (program, case, function, line) in cases {
        let fault = fault(program, case);
        assert_eq!(fault.check, Some(Check::CoreDivision), "{fault:?}");
        let place = format!(" in {function}{line})");
        let leads_there =
            |note: &String| note.contains("leads back to 0x") && note.contains(&place);
        assert!(
            fault.notes.iter().any(leads_there),
            "{place} of case {case}: {fault:?}"
        );
    }
}

#[test]
fn stack_overflow_is_reported_at_the_first_store_below() {
    let (_, message) = message(3);
    let words = message.split(|byte: char| !byte.is_ascii_alphanumeric());
    let numbers = words.filter_map(|word| word.strip_prefix("0x"));
    let numbers: Vec<u32> = { numbers.filter_map(|it| u32::from_str_radix(it, 16).ok()) }.collect();
    let [.., pointer, start, _end] = numbers[..] else {
        panic!("{message}");
    };
    // A frame of `deeper` has some 80 bytes; a job has hundreds of instructions.
    assert!(start - pointer < 128, "{message}");
}

#[test]
fn correct_programs_raise_no_fault() {
    for case in [0, 17] {
        let running = Running::new("faults", &format!("import = {{ CASE = {case} }}\n"));
        let running = running.run_without_fault(3_000_000);
        assert!(running.processor().has_ended(), "case {case}");
    }
}

#[test]
fn remedy_explains_undocumented_register_addresses() {
    for (case, remedy) in [(11, "hash unit's operands"), (13, "memory that this chip")] {
        let fault = fault("faults", case);
        let help = fault.help.clone().unwrap_or_default();
        assert!(help.contains(remedy), "{fault:?}");
    }
}

#[test]
fn access_to_a_foreign_ring_is_refused() {
    let keys = "import = { CASE = 10 }\nrings = [\"IN\", \"OUT\"]\n";
    let mut running = Running::new("faults", keys);
    running.run_until(1_000_000);
    let fault = running.fault().unwrap();
    assert!(fault.message.contains("belongs to another"), "{fault:?}");
}

#[test]
fn allowed_core_check_is_counted_and_the_program_continues() {
    for (case, check) in [
        (1, Check::CoreUnwrittenRead),
        (2, Check::CoreCodeWrite),
        (5, Check::CoreDivision),
        (8, Check::CoreUnpredictable),
    ] {
        let mut running = Running::new("faults", &format!("import = {{ CASE = {case} }}\n"));
        running.bench.fabric.checks.allow(check);
        let running = running.run_without_fault(3_000_000);
        assert!(running.processor().has_ended(), "{check}");
        let passed: Vec<_> = running.bench.fabric.checks.passed_over().collect();
        assert_eq!(passed, [(check, 1)]);
    }
}

#[test]
fn interrupt_stack_bounds_are_checked() {
    let mut running = Running::new("handlers", "");
    running.run_until(3_000_000);
    let fault = running.fault().unwrap();
    assert_eq!(fault.check, Some(Check::CoreStack));
    assert!(
        fault.message.contains("deeper (handlers.c:")
            && fault
                .message
                .contains("the stack of interrupts is 0x00300160 to 0x00300260"),
        "{fault:?}"
    );
}

#[test]
fn unacknowledged_interrupt_is_reported_as_the_cause() {
    let mut running = Running::new("handlers", "import = { CASE = 2 }\n");
    running.run_until(3_000_000);
    let fault = running.fault().unwrap();
    assert_eq!(fault.check, Some(Check::CoreEndlessWait));
    assert!(
        fault
            .message
            .contains("no handler acknowledges it (line 4: timer 0)"),
        "{fault:?}"
    );
    let help = fault.help.as_deref().unwrap_or_default();
    assert!(help.contains("0x30 of a timer"), "{fault:?}");
}

#[test]
fn unpredictable_behaviour_is_explained_with_a_specific_remedy() {
    let mut running = Running::new("faults", "import = { CASE = 8 }\n");
    running.run_until(3_000_000);
    let fault = running.fault().unwrap();
    assert!(
        fault
            .message
            .contains("an access to a halfword at an odd address"),
        "{fault:?}"
    );
    let help = fault.help.as_deref().unwrap_or_default();
    assert!(help.contains("byte by byte"), "{fault:?}");
}
