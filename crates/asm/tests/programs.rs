//! Whole programs through the assembler.

mod support;

use npsim_asm::{disassemble, listing};
use support::image;

const RECEIVE: &str = r"
.num_contexts 8
.sig volatile next_context
.sig arrived got
.reg read $rsw0 $rsw1
.xfer_order $rsw0 $rsw1
.reg $desc0 $desc1
.xfer_order $desc0 $desc1
.reg freelist element value buffer ring
.reg @packets

    immed[@packets, 0]
    immed[ring, 4]
    local_csr_rd[ACTIVE_CTX_STS]
    immed[value, 0]
    alu[value, value, AND, 7]
    immed[freelist, (&$rsw0 | (&arrived << 12))]
    alu_shf[freelist, freelist, OR, value, <<20]
loop#:
    msf[fast_wr, --, freelist, 0x30]
    .set_sig arrived
    ctx_arb[arrived]
    .set $rsw0 $rsw1
    alu_shf[element, 127, AND, $rsw0, >>24]
    alu[@packets, @packets, +, 1]
    scratch[get, $desc0, 0, ring, 2], ctx_swap[got]
    alu[buffer, --, B, $desc0]
    beq[loop#]
    alu[$desc0, --, B, buffer]
    alu_shf[$desc1, element, OR, buffer, <<8]
    sram[write, $desc0, buffer, 0, 2], ctx_swap[got], defer[1]
    alu[value, $rsw1, AND, 0xff]
    br=byte[value, 0, 3, loop#], defer[1]
    nop
    local_csr_wr[SAME_ME_SIGNAL, 0x88]
    br[loop#]
";

#[test]
fn a_receive_loop_assembles_and_comes_back() {
    let first = image(RECEIVE);
    let text = disassemble(&first);
    let second = image(&text);
    assert_eq!(first.words, second.words, "{text}");
    assert_eq!(first.origins.len(), first.words.len());
    assert_eq!(first.place(7), "main.uc:20");
    let listing = listing(&first);
    assert!(
        listing.contains("loop#:\n.%line 20 \"main.uc\"\n.7 3D"),
        "{listing}"
    );
    assert!(listing.contains("; .reg @packets @"), "{listing}");
}

#[test]
fn nothing_but_a_halt() {
    assert_eq!(image("halt\n").words, [0xe0_0002_0000]);
}
