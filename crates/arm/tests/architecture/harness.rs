//! Cases in a process of qemu-arm: a hand-written program that reads them, executes each and writes the results.

use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};

use npsim_arm::ByteOrder;

use crate::case::{After, Case, FLAGS, WINDOW_WORDS};

/// The program, at 0x10c00. Cases are read from standard input to `0x0100_0000`. For each, the flags are set and all
/// registers loaded (PC with the address of the case's code); at the landing, registers, CPSR and the window are stored
/// from `0x0800_0000` on. All results are then written to standard output.
///
/// ```text
/// start:  mov r4, #IN                          after0: str r0, save0       @ the landings
/// 1:      mov r0, #0; mov r1, r4                       mov r0, #0; b common
///         mov r2, #0x10000; mov r7, #3; swi 0  after1: str r0, save0
///         cmp r0, #0; addgt r4, r4, r0; bgt 1b         mov r0, #1; b common
///         mov r8, #IN; mov r9, #OUT            after2: str r0, save0; mov r0, #2
///         str r8, cur; str r4, end             common: str r14, save14; ldr r14, outp
///         str r9, outp                                 stmia r14!, {r0-r13}; mrs r0, cpsr
/// next:   ldr r8, cur; ldr r4, end                     ldr r1, save0; ldr r2, save14
///         cmp r8, r4; bhs done                         stmia r14!, {r0-r2}; mov r0, #WINDOW
///         ldr r0, [r8], #4; msr cpsr_f, r0     8 times ldmia r0!, {r1-r8}; stmia r14!, {r1-r8}
///         ldmia r8, {r0-r15}                           str r14, outp; ldr r8, cur
///                                                      add r8, r8, #128; str r8, cur; b next
/// done:   mov r4, #OUT; ldr r5, outp
/// 2:      mov r0, #1; mov r1, r4; subs r2, r5, r4; moveq r7, #1; moveq r0, #0; movne r7, #4
///         swi 0; add r4, r4, r0; b 2b
/// ```
///
/// Its variables begin at 0x11000.
const PROGRAM: [u32; 69] = [
    0xe3a04401, 0xe3a00000, 0xe1a01004, 0xe3a02801, 0xe3a07003, 0xef000000, 0xe3500000, 0xc0844000,
    0xcafffff7, 0xe3a08401, 0xe3a09302, 0xe58f83cc, 0xe58f43cc, 0xe58f93cc, 0xe59f83c0, 0xe59f43c0,
    0xe1580004, 0x2a000027, 0xe4980004, 0xe128f000, 0xe898ffff, 0xe58f03b0, 0xe3a00000, 0xea000004,
    0xe58f03a4, 0xe3a00001, 0xea000001, 0xe58f0398, 0xe3a00002, 0xe58fe394, 0xe59fe388, 0xe8ae3fff,
    0xe10f0000, 0xe59f1380, 0xe59f2380, 0xe8ae0007, 0xe3a00a12, 0xe8b001fe, 0xe8ae01fe, 0xe8b001fe,
    0xe8ae01fe, 0xe8b001fe, 0xe8ae01fe, 0xe8b001fe, 0xe8ae01fe, 0xe8b001fe, 0xe8ae01fe, 0xe8b001fe,
    0xe8ae01fe, 0xe8b001fe, 0xe8ae01fe, 0xe8b001fe, 0xe8ae01fe, 0xe58fe32c, 0xe59f8320, 0xe2888080,
    0xe58f8318, 0xeaffffd3, 0xe3a04302, 0xe59f5314, 0xe3a00001, 0xe1a01004, 0xe0552004, 0x03a07001,
    0x03a00000, 0x13a07004, 0xef000000, 0xe0844000, 0xeafffff6,
];

const LOAD: u32 = 0x0001_0000;
const ENTRY: u32 = 0x0001_0c00;
const END: u32 = 0x1000_0000;

/// The longwords of a result.
const RESULT: usize = 17 + WINDOW_WORDS;

/// The maximum number of cases of a process.
pub const BATCH: usize = 50_000;

/// Longwords to bytes.
fn bytes(words: &[u32], order: ByteOrder) -> Vec<u8> {
    let bytes = |word: &u32| match order {
        ByteOrder::Big => word.to_be_bytes(),
        ByteOrder::Little => word.to_le_bytes(),
    };
    words.iter().flat_map(bytes).collect()
}

fn longwords(bytes: &[u8], order: ByteOrder) -> Vec<u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&word| match order {
            ByteOrder::Big => u32::from_be_bytes(word),
            ByteOrder::Little => u32::from_le_bytes(word),
        })
        .collect()
}

/// An executable of one segment: its own header, the program, memory for cases and results.
fn executable(order: ByteOrder) -> Vec<u8> {
    let (ident, halves): (u8, fn(u32, u32) -> u32) = match order {
        ByteOrder::Big => (2, |first, second| first << 16 | second),
        ByteOrder::Little => (1, |first, second| second << 16 | first),
    };
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, ident, 1];
    file.resize(16, 0);
    let header = [
        // An executable for ARM, version 1.
        halves(2, 40),
        1,
        ENTRY,
        52,
        0,
        0x0500_0000,
        halves(52, 32),
        halves(1, 0),
        0,
        // PT_LOAD: offset, addresses, sizes, rights, alignment.
        1,
        0,
        LOAD,
        LOAD,
        0x1000,
        END - LOAD,
        7,
        0x1000,
    ];
    file.extend(bytes(&header, order));
    file.resize((ENTRY - LOAD) as usize, 0);
    file.extend(bytes(&PROGRAM, order));
    file.resize(0x1000, 0);
    file
}

/// The emulator for a byte order.
fn emulator(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Big => "qemu-armeb",
        ByteOrder::Little => "qemu-arm",
    }
}

/// Whether the emulator is installed; prints a message if not.
pub fn available(order: ByteOrder) -> bool {
    let emulator = emulator(order);
    let found = Command::new(emulator)
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("skipped: no {emulator} (Debian: apt-get install qemu-user)");
    }
    found
}

/// The results of cases, which share one memory; the status of the process if it did not reach its end.
pub fn run(order: ByteOrder, cases: &[Case]) -> Result<Vec<After>, ExitStatus> {
    assert!(cases.len() <= BATCH);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases");
    std::fs::write(&file, executable(order)).unwrap();
    make_executable(&file);
    let mut child = Command::new(emulator(order))
        .args(["-cpu", "pxa255"])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input: Vec<u32> = cases
        .iter()
        .enumerate()
        .flat_map(|(number, case)| case.words(order, number))
        .collect();
    // Nothing is written before everything is read.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes(&input, order)).unwrap();
    drop(stdin);
    let mut output = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut output)
        .unwrap();
    let status = child.wait().unwrap();
    if !status.success() {
        return Err(status);
    }
    let results = longwords(&output, order);
    assert_eq!(results.len(), cases.len() * RESULT);
    Ok(results
        .chunks(RESULT)
        .map(|words| {
            let mut registers = [0; 15];
            registers[0] = words[15];
            registers[1..14].copy_from_slice(&words[1..14]);
            registers[14] = words[16];
            After {
                landing: words[0],
                flags: words[14] & FLAGS,
                registers,
                window: words[17..].try_into().unwrap(),
            }
        })
        .collect())
}

#[cfg(unix)]
fn make_executable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn make_executable(_: &std::path::Path) {}
