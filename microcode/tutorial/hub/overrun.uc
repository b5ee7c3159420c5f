; overrun.uc: frames of one mpacket, each into a buffer of its own and onto the ring.
;
; Eight contexts take turns twice: to enter the receive freelist, so that mpackets go
; to them in order, and to put packets on the ring, so that these stay in order.

#include "constant.uc"
#include "turn.uc"
#include "rbuf.uc"
#include "buffer.uc"

.num_contexts 8

.reg read $status $checksum             ; pushed by the media interface
.xfer_order $status $checksum
.reg read $link
.reg write $bytes $port                 ; longwords 1 and 2 of the descriptor
.xfer_order $bytes $port
.reg write $packet                      ; what goes onto the ring
.sig volatile ask out                   ; the two turns
.sig volatile arrived
.sig taken moved written handed

.reg ticket free_queue ring

    load_constant(free_queue, FREE_BUFFERS)
    immed[ring, PACKET_RING]
    receive_ticket(ticket, arrived, $status)
    br!=ctx[0, next#]
    turn_start(ask)
    turn_start(out)

next#:
.begin
    .reg status element bytes port buffer address place part

    ctx_arb[ask]
    receive_request(ticket, arrived)
    turn_pass(ask)

    ctx_arb[arrived]
    .set $status $checksum
    alu[status, --, B, $status]
    alu_shf[element, 0x7f, AND, status, >>24]
    alu_shf[bytes, 0xff, AND, status, >>16]

    ; A frame of more than one mpacket is not for this firmware.
    alu_shf[part, 0x3, AND, status, >>RECEIVE_EOP_BIT]
    alu[--, part, -, 3]
    bne[too_long#]

    buffer_take(buffer, free_queue, $link, taken)
    alu[--, --, B, buffer]
    beq[no_buffer#]
    buffer_address(address, buffer)
    receive_store(element, bytes, address, moved)
    receive_free(element)

    ; It leaves by the other port.
    receive_port(port, status)
    alu[port, port, XOR, 1]
    alu[$port, --, B, port]
    alu[$bytes, --, B, bytes]
    alu_shf[place, --, B, buffer, <<2]
    sram[write, $bytes, place, 4, 2], ctx_swap[written]

    alu[$packet, --, B, buffer]
    ctx_arb[out]
    scratch[put, $packet, ring, 0, 1], sig_done[handed]
    turn_pass(out)
    ctx_arb[handed]
    br[next#]

no_buffer#:
    receive_free(element)
    ctx_arb[out]
    turn_pass(out)
    load_constant(part, DROP_NO_BUFFER)
    br[drop#]

too_long#:
    receive_free(element)
    ctx_arb[out]
    turn_pass(out)
    load_constant(part, DROP_TOO_LONG)
    ; The last of its mpackets counts.
    br_bclr[status, RECEIVE_EOP_BIT, next#]

drop#:
    scratch[incr, --, part, 0]
    br[next#]
.end
