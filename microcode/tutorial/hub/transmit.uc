; transmit.uc: packets off the ring and into TBUF, in order, and their buffers back.

#include "constant.uc"
#include "turn.uc"
#include "tbuf.uc"
#include "buffer.uc"
#include "timer.uc"

; Elements that may be claimed and not yet sent.
#define IN_FLIGHT_LIMIT 40
; Steps of 16 cycles between two polls of an empty ring.
#define POLL_GAP 6

.num_contexts 8

.reg read $packet                       ; what comes off the ring
.reg read $bytes $port                  ; longwords 1 and 2 of the descriptor
.xfer_order $bytes $port
.reg read $sequence
.reg write $control0 $control1          ; the transmit control word
.xfer_order $control0 $control1
.sig volatile claim                     ; the turn to take a packet and an element
.sig volatile rung
.sig got filled valid

; Elements claimed and elements known to be sent, without end; their difference counts
; modulo 256.
.reg @claimed @sent

.reg free_queue ring sequence

    load_constant(free_queue, FREE_BUFFERS)
    immed[ring, PACKET_RING]
    immed[sequence, TX_SEQUENCE_0]
    br!=ctx[0, next#]
    immed[@claimed, 0]
    immed[@sent, 0]
    turn_start(claim)

next#:
.begin
    .reg port buffer place bytes element waiting address control

    ctx_arb[claim]
    br[poll#]

empty#:
    timer_wait(POLL_GAP, rung)
poll#:
    scratch[get, $packet, ring, 0, 1], ctx_swap[got]
    alu[buffer, --, B, $packet]
    beq[empty#]
    alu_shf[place, --, B, buffer, <<2]
    sram[read, $bytes, place, 4, 2], ctx_swap[got]

room#:
    alu[waiting, --, B, @claimed]
    alu[waiting, waiting, -, @sent]
    alu[waiting, waiting, AND, 0xff]
    alu[--, waiting, -, IN_FLIGHT_LIMIT]
    blo[claimed#]
    msf[read, $sequence, sequence, 0, 1], ctx_swap[got]
    alu[@sent, --, B, $sequence]
    br[room#]

claimed#:
    alu[element, --, B, @claimed]
    alu[@claimed, element, +, 1]
    turn_pass(claim)
    alu[element, element, AND, (TBUF_ELEMENTS - 1)]

    alu[port, --, B, $port]
    alu[bytes, --, B, $bytes]
    buffer_address(address, buffer)
    transmit_fill(element, bytes, address, filled)
    buffer_return(buffer, free_queue)
    alu_shf[control, port, OR, 1, <<TRANSMIT_SOP_BIT]
    alu_shf[control, control, OR, 1, <<TRANSMIT_EOP_BIT]
    alu_shf[control, control, OR, bytes, <<24]
    transmit_validate(element, $control0, $control1, control, valid)
    br[next#]
.end
