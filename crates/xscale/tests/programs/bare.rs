//! Programs of a few instructions at address 0, whose vectors all hold one word.

use std::path::Path;

use npsim_chip::kernel::check::{Check, Fault};
use npsim_project::files::MemoryFiles;
use npsim_project::{Overrides, Project, Registry};
use npsim_testkit::slow_path;
use npsim_xscale::with_program;

use crate::bench::Running;

const UNDEFINED: u32 = 0xe7f0_00f0;
const BREAKPOINT: u32 = 0xe120_0070;
const NOP: u32 = 0xe1a0_0000;

/// A big-endian file with a segment of words at address 0, which begins at 0x20.
fn file(words: &[u32]) -> Vec<u8> {
    let bytes = 4 * words.len() as u32;
    let mut file = b"\x7fELF\x01\x02\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([0, 2, 0, 40]);
    for word in [1_u32, 0x20, 52, 0, 0] {
        file.extend(word.to_be_bytes());
    }
    for half in [52_u16, 32, 1, 0, 0, 0] {
        file.extend(half.to_be_bytes());
    }
    for word in [1, 84, 0, 0, bytes, bytes, 7, 4] {
        file.extend(word.to_be_bytes());
    }
    file.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    file
}

/// A chip with a program: eight vectors, and the instructions at 0x20.
fn running(vectors: u32, instructions: &[u32], cache: &str) -> Running {
    let program = [&[vectors; 8], instructions].concat();
    let text = format!(
        "name = \"bare\"\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = 0\nsource = \"a.uc\"\n\
         [gpp.program]\nelf = \"program.elf\"\ncache = \"{cache}\"\n"
    );
    let files = MemoryFiles::from_iter([
        ("p/npsim.toml", text.into_bytes()),
        ("p/a.uc", b"nop\n".to_vec()),
        ("p/program.elf", file(&program)),
    ]);
    let registry = with_program(Registry::default());
    let project = Project::load_from(&files, Path::new("p"), &Overrides::default(), &registry)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let bench = slow_path::load(&project.boot).unwrap();
    Running { bench, project }
}

/// The fault that stops a program.
fn fault(vectors: u32, instructions: &[u32]) -> Fault {
    let mut running = running(vectors, instructions, "perfect");
    running.run_until(1_000_000);
    running
        .fault()
        .expect("something stops the program")
        .clone()
}

#[test]
fn exception_loop_is_reported_as_endless_wait() {
    let fault = fault(BREAKPOINT, &[BREAKPOINT]);
    assert_eq!(fault.check, Some(Check::CoreEndlessWait), "{fault:?}");
    assert!(fault.message.contains("at 0x0000000c"), "{fault:?}");
}

#[test]
fn cycle_counter_delay_loop_terminates() {
    let fault = fault(
        0,
        &[
            0xe3a0_0005, // mov r0, #5
            0xee00_0e11, // mcr p14, 0, r0, c0, c1, 0
            0xe3a0_10c8, // mov r1, #200
            0xee11_0e11, // mrc p14, 0, r0, c1, c1, 0
            0xe1a0_0520, // mov r0, r0, lsr #10
            0xe150_0001, // cmp r0, r1
            0x3aff_fffb, // bcc to the read
            UNDEFINED,
        ],
    );
    assert!(fault.message.contains("runs 0xe7f000f0"), "{fault:?}");
}

#[test]
fn fault_inside_a_block_is_reported_at_its_instruction() {
    let late = |instruction| {
        let mut program = vec![0xe3a0_0501]; // mov r0, #0x400000
        program.extend([NOP; 20]);
        program.extend([instruction, UNDEFINED]);
        fault(0, &program)
    };
    // ldm r0, {r1, r2}; ldr r1, [r0]
    for fault in [late(0xe890_0006), late(0xe590_1000)] {
        assert_eq!(fault.check, Some(Check::CoreUnwrittenRead), "{fault:?}");
        assert!(fault.message.contains("at 0x00000074"), "{fault:?}");
    }
}

#[test]
fn fault_location_is_exact_after_any_delay() {
    for turns in (230..300).step_by(2) {
        let fault = fault(
            0,
            &[
                0xe3a0_0501,               // mov r0, #0x400000
                0xe3a0_2f00 | (turns / 4), // mov r2, #turns
                0xe252_2001,               // subs r2, r2, #1
                0x1aff_fffd,               // bne to the subs
                0xe890_0018,               // ldm r0, {r3, r4}
                UNDEFINED,
            ],
        );
        assert_eq!(
            fault.check,
            Some(Check::CoreUnwrittenRead),
            "{turns}: {fault:?}"
        );
        assert!(
            fault.message.contains("at 0x00000030"),
            "{turns}: {fault:?}"
        );
    }
}

#[test]
fn exception_report_shows_the_registers_at_its_instruction() {
    // mov sp, #0x1000; mov lr, #0x24
    let fault = fault(0, &[0xe3a0_da01, 0xe3a0_e024, UNDEFINED]);
    let notes = fault.notes.join("\n");
    assert!(
        notes.contains("r13 00001000  r14 00000024  r15 00000028"),
        "{notes}"
    );
    assert!(notes.contains("leads back to 0x00000020"), "{notes}");
}

#[test]
fn byte_store_to_a_device_register_is_refused() {
    // mov r0, #0xd6000000; strb r1, [r0, #0x20], which is the interrupt controller's
    let fault = fault(0, &[0xe3a0_04d6, 0xe5c0_1020]);
    assert!(fault.message.contains("only longwords"), "{fault:?}");
}
