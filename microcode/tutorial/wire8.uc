; wire8.uc: what comes in on a port goes out on the same port, eight mpackets
; at a time.
;
; All eight contexts run wire.uc's loop. They enter the receive freelist in
; turn, so mpackets go to them in turn as well: context c gets the mpackets c,
; c + 8, c + 16 and so on. The TBUF element of an mpacket follows from that
; without a word between contexts, and the transmitter, which sends elements in
; the order of their numbers, keeps the order of arrival.

#include "turn.uc"
#include "rbuf.uc"
#include "tbuf.uc"

#ifndef ROOM_SHIFT
#define ROOM_SHIFT 6                    ; log2 of the distance of rooms in DRAM
#endif

.num_contexts 8

.reg read $status $checksum             ; pushed by the media interface
.xfer_order $status $checksum
.reg write $control0 $control1          ; the transmit control word
.xfer_order $control0 $control1
.sig volatile ask                       ; the turn to enter the freelist
.sig volatile arrived
.sig moved valid

.reg ticket status element bytes out buffer control

    receive_ticket(ticket, arrived, $status)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[out, 0]
    alu[out, out, AND, 0x7]                    ; the first TBUF element: context 0 to 7
    alu_shf[buffer, --, B, out, <<ROOM_SHIFT]  ; room for an mpacket in DRAM

    br!=ctx[0, next#]
    turn_start(ask)

next#:
    ctx_arb[ask]
    receive_request(ticket, arrived)
    turn_pass(ask)

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

    alu[out, out, +, 8]                 ; eight mpackets further on
    alu[out, out, AND, (TBUF_ELEMENTS - 1)]
    br[next#]
