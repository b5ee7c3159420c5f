; wire.uc: what comes in on a port goes out on the same port.
;
; The smallest useful firmware: one context moves one mpacket at a time from
; RBUF through DRAM to TBUF.

#include "rbuf.uc"
#include "tbuf.uc"

.num_contexts 8

.reg read $status $checksum             ; pushed by the media interface
.xfer_order $status $checksum
.reg write $control0 $control1          ; the transmit control word
.xfer_order $control0 $control1
.sig volatile arrived
.sig moved valid

.reg ticket status element bytes out buffer control

    br=ctx[0, start#]
    ctx_arb[kill]                       ; contexts 1 to 7 have nothing to do

start#:
    receive_ticket(ticket, arrived, $status)
    immed[buffer, 0]                    ; one mpacket's room at DRAM address 0
    immed[out, 0]                       ; the next TBUF element

next#:
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    .set $status $checksum
    alu[status, --, B, $status]
    alu_shf[element, 0x7f, AND, status, >>24]
    alu_shf[bytes, 0xff, AND, status, >>16]
    receive_store(element, bytes, buffer, moved)
    receive_free(element)

    transmit_fill(out, bytes, buffer, moved)
    ; bytes in 31..24, SOP and EOP from bits 15..14 to 9..8, the port in 4..0
    alu_shf[control, 0x3, AND, status, >>14]
    alu_shf[control, --, B, control, <<8]
    alu_shf[control, control, OR, bytes, <<24]
    alu[status, status, AND, 0x1f]
    alu[control, control, OR, status]
    transmit_validate(out, $control0, $control1, control, valid)

    alu[out, out, +, 1]
    alu[out, out, AND, (TBUF_ELEMENTS - 1)]
    br[next#]
