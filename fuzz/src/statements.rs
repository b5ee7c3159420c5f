//! Statements from bytes: every byte chooses a word, so that the fuzzer does
//! not spend its time on spelling.

/// Declarations in front of every program.
const DECLARATIONS: &str = "\
.reg x y z w[3] $x $y $z $$d $$e @a\n\
.reg remote $far\n\
.sig s t u\n\
.xfer_order $x $y $z\n";

/// The words. Their order is part of the meaning of a saved input.
const WORDS: &[&str] = &[
    "alu[", "alu_shf[", "immed[", "immed_w0[", "immed_w1[", "immed_b0[", "br[", "beq[", "bne[",
    "br=byte[", "br!=byte[", "br=ctx[", "br_bset[", "br_bclr[", "br_signal[", "br_!signal[",
    "br_inp_state[", "sram[", "scratch[", "dram[", "msf[", "hash_48[", 
    "cap[", "pci[", "ctx_arb[", "jump[", "rtn[", "load_addr[", "local_csr_rd[", "local_csr_wr[",
    "ld_field[", "ld_field_w_clr[", "dbl_shf[", "mul_step[", "crc_be[", "crc_le[", "cam_lookup[",
    "cam_write[", "cam_clear", "cam_read_tag[", "cam_write_state[", "pop_count[", "ffs[",
    "byte_align_be[", "byte_align_le[", "asr[", "halt", "nop", "read", "write", "get", "put",
    "swap", "incr", "decr", "add", "test_and_add", "test_and_set", "enqueue", "dequeue",
    "rbuf_rd", "tbuf_wr", "fast_wr", "read_qdesc_head", "]", "], ", ", ", ",",
    "[", "(", ")", "--", "+", "-", "B", "~B", "AND", "OR", "XOR", "~AND", "AND~", "+carry",
    "+16", "+8", "-carry", "B-A", "<<", ">>", "<<3", ">>rot8", "<<rot1", ">>indirect",
    "<<indirect", ">>32", "<<0", "indirect", "0", "1", "2", "3", "4", "5", "7", "8", "15", "16",
    "31", "32", "63", "127", "128", "255", "256", "300", "0x1000", "0xffff", "0x10000",
    "0xffffffff", "99999999999", "x", "y", "z", "w[0]", "w[2]", "w[9]", "$x", "$y", "$z", "$$d",
    "$$e", "@a", "@b", "s", "t", "u", "&s", "&$x", "a0", "b0", "a15", "b31", "$0", "$9", "$$3",
    "$far", "n$0", "n$n", "@a3", "*l$index0", "*l$index1", "*l$index0[3]", "*l$index0++",
    "*l$index1--", "*$index", "*$index++", "*n$index", "*n$index++", "ACTIVE_CTX_STS",
    "CTX_ENABLES", "CC_ENABLE", "TIMESTAMP_LOW", "SCRATCH_RING_BASE_0", "ctx_swap[s]",
    "ctx_swap[t]", "sig_done[s]", "sig_done[t]", "sig_done[u]", "defer[1]", "defer[2]",
    "defer[3]", "indirect_ref", "any", "all", "voluntary", "kill", "bpt", "no_load_cc", "load_cc",
    "max_8", "max_16", "ref_cnt", "targets[l#, m#]", "ignore_data_error[s]", "16x16_start",
    "16x16_step1", "16x16_last", "24x8_start", "32x32_last", "0011", "1111", "0001",
    "bytes_0_3", "bytes_0_1", "bit_swap", "l#", "m#", "l#:\n", "m#:\n", "\n", "\n", "\n", "\n",
    "\n", "\n", "\n", ";", ".if(", ".elif(", ".else\n", ".endif\n", ".while(", ".endw\n",
    ".repeat\n", ".until(", ".break\n", ".continue\n", ".if_unsigned(", "==", "!=", "<", ">=",
    "&&", "||", "!", "BIT(x, 3)", "BYTE(x, 1)", "SIGNAL(s)", "CTX()", "COUT", ".begin\n",
    ".end\n", ".reg ", ".sig ", ".set ", ".set_sig ", ".xfer_order ", ".use ", ".addr ",
    ".num_contexts 4\n", ".init ", ".init_nn_mode self\n", ".import_var imp\n", "imp",
    ".operand_synonym ", ".subroutine\n", ".endsub\n", "volatile ", "visible ", "#define q x\n",
    "#undef q\n", "q", "#pragma warning(disable: ", "mask(s)", 
"\u{e4}",
];

const _: () = assert!(WORDS.len() <= 256, "a byte reaches every word");

/// The program that some bytes stand for.
#[must_use]
pub fn program(input: &[u8]) -> String {
    let mut text = DECLARATIONS.to_owned();
    for &byte in input {
        text.push_str(WORDS[usize::from(byte) % WORDS.len()]);
        // Words must not grow together, but `alu[` needs no blank.
        if !text.ends_with(['[', '\n', ' ']) {
            text.push(' ');
        }
    }
    text.push('\n');
    text
}
