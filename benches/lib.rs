//! Workloads of the benches.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use npsim::assemble::{Program, assemble_project};
use npsim::project::{Overrides, Project};
use npsim_net::Frame;

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Loads and assembles a project or a source of the repository.
///
/// # Panics
/// Panics if it does not load or assemble, since a bench cannot continue.
#[must_use]
pub fn load(target: &Path, defines: &[(String, String)]) -> (Project, Vec<Program>) {
    let overrides = Overrides {
        defines: defines.to_vec(),
        ..Overrides::default()
    };
    let project = Project::load(target, &overrides, &npsim::registry())
        .expect("the project is in the repository");
    let (programs, messages) = assemble_project(&project);
    (
        project,
        programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n"))),
    )
}

/// UDP frames of 64 bytes including the frame check sequence, to all routes: Ethernet in bytes
/// 0 to 13 (type IPv4), IPv4 from 14 (identification n, TTL 64, protocol 17, checksum in 24 and
/// 25), zeros from 34. The destinations alternate between the routes of `microcode/forward` and
/// `microcode/router`.
#[must_use]
pub fn smallest_frames(count: usize) -> Vec<Frame> {
    (0..count)
        .map(|n| {
            let mut bytes = vec![0u8; 60];
            bytes[..12].copy_from_slice(&[2, 0, 0x5e, 0, 0, 0, 2, 0, 0, 0, 0, 9]);
            bytes[12..24].copy_from_slice(&[
                8,
                0,
                0x45,
                0,
                0,
                46,
                (n >> 8) as u8,
                n as u8,
                0,
                0,
                64,
                17,
            ]);
            bytes[26..30].copy_from_slice(&[10, 9, 0, (n % 250) as u8 + 1]);
            bytes[30..34].copy_from_slice([&[10, 1, 7, 7], &[10, 2, 7, 7], &[192, 0, 2, 7]][n % 3]);
            let sum: u32 = bytes[14..34]
                .chunks(2)
                .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                .sum();
            let folded = (sum & 0xffff) + (sum >> 16);
            bytes[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
            Frame {
                time_ns: 0,
                port: 0,
                original_len: 60,
                bytes,
            }
        })
        .collect()
}

/// Lines per block of [`large_source`].
const BLOCK_LINES: usize = 50;

/// Lines before the first block.
const HEAD_LINES: usize = 50;

/// A source of `lines` lines, a multiple of 50, that resembles firmware: macros with loops and
/// conditions in them, blocks with registers of their own, constant expressions, comments,
/// conditionally excluded code. About one line in seven becomes a word, since a control store
/// ends at 8192 words.
#[must_use]
pub fn large_source(lines: usize) -> String {
    let mut text = String::with_capacity(lines * 32);
    head(&mut text);
    let blocks = (lines - HEAD_LINES) / BLOCK_LINES;
    for n in 0..blocks {
        block(&mut text, n);
    }
    text
}

/// Writes declarations and macros.
fn head(text: &mut String) {
    text.push_str(
        "\
; Generated: a large program for the assembler's bench.
.num_contexts 8
#define WIDTH 16
#define SCALE(x) ((x) * WIDTH + 1)
#define_eval MASK ((1 << WIDTH) - 1)
.reg total step limit
.sig done
.xfer_order $head0 $head1
.reg $head0 $head1

#macro load(out, VALUE)
#if ((VALUE) > MASK)
    immed[out, ((VALUE) & 0xffff)]
    immed_w1[out, ((VALUE) >> 16)]
#else
    immed[out, (VALUE)]
#endif
#endm

#macro add_all(out, first, COUNT)
#define_eval I 0
#while (I < COUNT)
    alu[out, out, +, first]
#define_eval I (I + 1)
#endloop
#undef I
#endm

#macro clamp(value, most)
.begin
    alu[--, value, -, most]
    ble[inside#]
    alu[value, --, B, most]
inside#:
.end
#endm

    load(total, 0)
    load(step, 3)
    load(limit, 1000)
",
    );
    let lines = text.lines().count();
    for _ in lines..HEAD_LINES {
        text.push('\n');
    }
}

/// Writes one block of [`BLOCK_LINES`] lines.
fn block(text: &mut String, n: usize) {
    let start = text.len();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\
; ---------------------------------------------------------------------------
; Block {n}: adds to the total what the header of a packet would say, keeps it
; below the limit, and goes on. The comment is as long as comments of firmware
; that has to be understood years later.
; ---------------------------------------------------------------------------
#define BLOCK_{n} SCALE({n})
#ifdef WITH_TRACE
    alu[total, total, +, 1]
    local_csr_wr[active_lm_addr_0, total]
    nop
    nop
#endif
block_{n}#:
.begin
    .reg value other      ; of this block alone
    load(value, (BLOCK_{n} & 0xff))
"
    );
    if n.is_multiple_of(8) {
        text.push_str("    load(other, 0x12345678)\n");
    } else {
        text.push_str("    /* the usual step */ alu[other, --, B, step]\n");
    }
    text.push_str(
        "\
    ; what follows is done for all of them
    add_all(total, value, 1)
#ifdef LONG_BLOCKS
    add_all(total, value, 4)
    add_all(total, other, 4)
#endif
    alu[total, total, +, other]
    clamp(total, limit)
.end
",
    );
    let lines = text[start..].lines().count();
    for line in lines..BLOCK_LINES {
        match line % 3 {
            0 => text.push_str("; notes on the block above, which say why it is as it is\n"),
            1 => text.push_str("    // and what has been tried in its place\n"),
            _ => text.push('\n'),
        }
    }
}
