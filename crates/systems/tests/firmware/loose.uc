; Frames go out on the port that they came in on, in any order: contexts enter the receive
; freelist as they like, but their places among the TBUF elements are fixed.

#include "rbuf.uc"
#include "tbuf.uc"
#include "random.uc"

.num_contexts 8

.reg read $status $checksum
.xfer_order $status $checksum
.reg write $control0 $control1
.xfer_order $control0 $control1
.sig volatile arrived
.sig moved valid
.reg ticket status element bytes out buffer control work

    receive_ticket(ticket, arrived, $status)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[out, 0]
    alu[out, out, AND, 0x7]             ; the first TBUF element: context 0 to 7
    alu_shf[buffer, --, B, out, <<6]    ; room for an mpacket in DRAM

next#:
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    .set $status $checksum
    alu[status, --, B, $status]
    alu_shf[element, 0x7f, AND, status, >>24]
    alu_shf[bytes, 0xff, AND, status, >>16]
    receive_store(element, bytes, buffer, moved)
    receive_free(element)

work#:                                  ; on average 16 times
    ctx_arb[voluntary]
    random_word(work)
    alu[--, work, AND, 0xf]
    bne[work#]

    transmit_fill(out, bytes, buffer, moved)
    alu_shf[control, 0x3, AND, status, >>14]
    alu_shf[control, --, B, control, <<8]
    alu_shf[control, control, OR, bytes, <<24]
    alu[status, status, AND, 0x1f]
    alu[control, control, OR, status]
    transmit_validate(out, $control0, $control1, control, valid)

    alu[out, out, +, 8]                 ; eight mpackets further on
    alu[out, out, AND, (TBUF_ELEMENTS - 1)]
    br[next#]
