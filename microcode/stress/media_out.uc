; Hands TBUF elements to the transmitter as fast as the transmit bus accepts them:
; frames of 252 bytes on port 0, one element each, with arbitrary contents. One
; microengine; context c uses the elements c, c + 8, c + 16 and so on.

#include "tbuf.uc"

; Number of 256-byte elements in TBUF. The IXP2800 numbers them by their position,
; in units of 64 bytes.
#define ELEMENTS 32
#define BYTES    252

.num_contexts 8
.reg read $sequence
.reg write $control0 $control1
.xfer_order $control0 $control1
.reg count element ahead control tx_sequence
.sig read_it valid

    immed[tx_sequence, TX_SEQUENCE_0]
    immed[control, (3 << 8)]            ; SOP and EOP
    alu_shf[control, control, OR, BYTES, <<24]
    local_csr_rd[ACTIVE_CTX_STS]
    immed[count, 0]
    alu[count, count, AND, 0x7]

room#:
    ; Wait until the previous frame in this element has been sent.
    msf[read, $sequence, tx_sequence, 0, 1], ctx_swap[read_it]
    alu[ahead, count, -, $sequence]
    alu[ahead, ahead, AND, 0xff]
    alu[--, ahead, -, ELEMENTS]
    bhs[room#]
    alu[element, count, AND, (ELEMENTS - 1)]
#ifdef IXP2800
    alu_shf[element, --, B, element, <<2]
#endif
    transmit_validate(element, $control0, $control1, control, valid)
    alu[count, count, +, 8]
    br[room#]
