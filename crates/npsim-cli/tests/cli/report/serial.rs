//! Critical sections: what protects them is the limit, their lines and length are reported, and
//! their length changes the throughput while equal work outside of them does not.

use super::forwarder::{Forwarder, READ, TURN};

/// Work before, in and after a section: `enter` and `leave` surround the second part.
fn section(enter: &str, leave: &str, reads: [usize; 2]) -> String {
    let [before, inside] = reads.map(|count| READ.repeat(count));
    format!("{before}{enter}{inside}{leave}")
}

/// The limit is the lock or turn that is held, not the stage; only the length of the section
/// counts.
fn assert_section_is_limit(
    name: &str,
    in_order: bool,
    forwarder: impl Fn([usize; 2]) -> Forwarder,
) {
    let (text, sent) = forwarder([0, 4]).run(&[]);
    let headline = text.lines().next().unwrap();
    assert!(
        headline.contains(&format!("{name} is the limit: it is held or handed over 9"))
            || headline.contains(&format!(
                "{name} is the limit: it is held or handed over 100"
            )),
        "{text}"
    );
    for part in [
        "forward.uc:",
        "A section takes ",
        "More microengines do not help",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("run forward.uc on more"), "{text}");
    // No more frames than that leave, and hardly fewer.
    let (_, most) = text.split_once("so there are at most ").unwrap();
    let (most, _) = most.split_once(" sections a second").unwrap();
    let most: u64 = most.replace(',', "").parse().unwrap();
    let rate = sent * 10_000 / 4;
    assert!(
        rate <= most + most / 20 && rate * 5 >= most * 4,
        "{rate} of {most}"
    );
    // A section longer by a fifth has an effect.
    let (_, longer) = forwarder([0, 5]).run(&[]);
    assert!(longer * 100 < sent * 92, "{sent}, then {longer}");
    // The same work outside has none if it does not change the order in which contexts arrive.
    if in_order {
        let (_, outside) = forwarder([1, 4]).run(&[]);
        assert!(outside * 100 > sent * 96, "{sent}, then {outside}");
    }
    // A section that is short enough is not the limit.
    let (text, _) = forwarder([0, 0]).run(&[]);
    assert!(!text.contains(&format!("{name} is the limit")), "{text}");
}

#[test]
fn turn_held_during_lookups_is_the_limit() {
    assert_section_is_limit("The turn `out`", true, |reads| Forwarder {
        declare: "",
        set_up: "",
        first: "",
        work: section(
            "    ctx_arb[out]\n",
            "    br_inp_state[TX_RING_STATUS, congested#]\n",
            reads,
        ),
        project: "",
    });
}

#[test]
fn ring_token_held_during_lookups_is_the_limit() {
    let enter = "\
token#:
    scratch[get, $entry, token_ring, 0, 1], ctx_swap[fetched]
    alu[--, --, B, $entry]
    beq[token#]
";
    let leave = format!(
        "    immed[$token, 1]\n    scratch[put, $token, token_ring, 0, 1], ctx_swap[fetched]\n{TURN}"
    );
    assert_section_is_limit("The token of TOKEN (scratch ring 2)", true, |reads| {
        Forwarder {
            declare: ".reg write $token\n.reg token_ring\n",
            set_up: "    immed[token_ring, TOKEN]\n",
            first: "    immed[$token, 1]\n    scratch[put, $token, token_ring, 0, 1], ctx_swap[fetched]\n",
            work: section(enter, &leave, reads),
            project: "\n[[ring]]\nname = \"TOKEN\"\nsize = 128\n",
        }
    });
}

#[test]
fn undeclared_lock_is_the_limit() {
    let enter = "\
lock#:
    immed[$held, 1]
    scratch[test_and_set, $held, lock_place, 0], ctx_swap[locked]
    br_bset[$held, 0, lock#]
";
    let leave = format!(
        "    immed[$free, 0]\n    scratch[write, $free, lock_place, 0, 1], ctx_swap[fetched]\n{TURN}"
    );
    assert_section_is_limit("The lock in RECORD", false, |reads| Forwarder {
        declare: ".reg $held lock_place\n.reg write $free\n.sig locked\n",
        set_up: "    immed[lock_place, RECORD]\n",
        first: "",
        work: section(enter, &leave, reads),
        project: "\n[[memory]]\nname = \"RECORD\"\nspace = \"scratch\"\nsize = 4\n",
    });
}

/// A spinlock in SRAM, after which contexts hand their packets on in the order of a turn.
fn spinlock_forwarder(reads: usize) -> Forwarder {
    let enter = "\
lock#:
    immed[$held, 1]
    sram[test_and_set, $held, lock_place, 0], ctx_swap[locked]
    br_bset[$held, 0, lock#]
";
    let leave = format!(
        "    immed[$free, 0]\n    sram[write, $free, lock_place, 0, 1], ctx_swap[fetched]\n{TURN}"
    );
    Forwarder {
        declare: ".reg $held lock_place\n.reg write $free\n.sig locked\n.sig volatile enter\n",
        set_up: "    load_constant(lock_place, RECORD)\n",
        first: "    turn_start(enter)\n",
        work: section(enter, &leave, [0, reads]),
        project: "\n[[memory]]\nname = \"RECORD\"\nspace = \"sram1\"\nsize = 4\n",
    }
}

/// Contexts that get the lock early sleep before the turn until those that get it late have passed:
/// their stage appears to wait for memory, and the lock is free while all start again.
#[test]
fn spinlock_before_an_ordered_turn_is_the_limit() {
    let (text, sent) = spinlock_forwarder(2).run(&[]);
    let headline = text.lines().next().unwrap();
    assert!(
        headline.contains("The lock in RECORD is the limit: "),
        "{text}"
    );
    let waits = "of the time while frames were lost the turn `out` waits for a context that tries for it or holds it.";
    assert!(headline.ends_with(waits), "{text}");
    assert!(!text.contains("contexts sleep while work waits"), "{text}");
    // The section's length changes the throughput, and so does the order in which contexts take the
    // lock.
    let (_, shorter) = spinlock_forwarder(1).run(&[]);
    assert!(shorter * 100 > sent * 115, "{sent}, then {shorter}");
    assert!(text.contains("Let contexts take the lock in RECORD in the order of the turn `out`"));
    let in_order = Forwarder {
        work: { spinlock_forwarder(2).work }
            .replace("lock#:\n", "    ctx_arb[enter]\nlock#:\n")
            .replace("lock#]\n", "lock#]\n    turn_pass(enter)\n"),
        ..spinlock_forwarder(2)
    };
    let (_, in_order) = in_order.run(&[]);
    assert!(in_order * 100 > sent * 110, "{sent}, then {in_order}");
    // If the turn waits for something else, the lock is not reported.
    let elsewhere = Forwarder {
        work: READ.repeat(12) + &spinlock_forwarder(0).work,
        ..spinlock_forwarder(0)
    };
    let (text, _) = elsewhere.run(&[]);
    assert!(!text.contains("The lock in RECORD is the limit"), "{text}");
}

/// The lines of a lock that the project names are those that take and release it, wherever they
/// are.
#[test]
fn named_lock_is_reported_with_its_acquire_and_release_lines() {
    let named = |reads, before: &str| Forwarder {
        work: before.to_owned() + &spinlock_forwarder(reads).work,
        project: "\n[[memory]]\nname = \"RECORD\"\nspace = \"sram1\"\nsize = 4\n[[lock]]\nname = \"OWN\"\nmemory = \"RECORD\"\n",
        ..spinlock_forwarder(reads)
    };
    let mut sent = Vec::new();
    for (reads, before) in [(2, ""), (2, "; a line\n; and another\n"), (3, "")] {
        let forwarder = named(reads, before);
        let source = forwarder.source();
        let line = |part: &str| 1 + source.lines().position(|line| line.contains(part)).unwrap();
        let (text, frames) = forwarder.run(&[]);
        let headline = text.lines().next().unwrap();
        assert!(headline.contains("The lock OWN is the limit: "), "{text}");
        let (taken, given) = (
            line("sram[test_and_set"),
            line("sram[write, $free, lock_place"),
        );
        assert!(
            text.contains(&format!("/forward.uc:{taken} and given back at ")),
            "{text}"
        );
        assert!(text.contains(&format!("/forward.uc:{given}.")), "{text}");
        sent.push(frames);
    }
    assert_eq!(sent[0], sent[1], "comments move lines and nothing else");
    assert!(sent[2] * 100 < sent[0] * 92, "{sent:?}");
}
