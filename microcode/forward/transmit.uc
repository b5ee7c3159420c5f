; transmit.uc: the transmit stage of the IPv4 forwarder.
;
; Eight contexts take packets off TX_RING in order. The context whose turn it
; is claims as many TBUF elements as its packet needs, the next in order, and
; passes the turn; elements are then filled in parallel. The transmitter sends
; them strictly in order, so the packets leave in the order of the ring.
;
; A project with a CORE_RING has packets of the general-purpose core on it: port and
; buffer, the frame's length in the buffer's descriptor. They go before those of TX_RING:
; they are few, as the core takes far longer to make one than a context to send it.

#include "constant.uc"
#include "turn.uc"
#include "tbuf.uc"
#include "buffer.uc"
#include "timer.uc"

; Elements that may be claimed and not yet sent. Fewer than there are, so that
; a whole turn of the eight-bit counters is never mistaken for nothing.
#define IN_FLIGHT_LIMIT 120

; Steps of 16 cycles between two polls of an empty ring: a quarter of the time
; that the smallest frame takes on the line, and scratch is left to others.
#ifndef POLL_GAP
#define POLL_GAP 6
#endif

.num_contexts 8

.reg read $descriptor0 $descriptor1
.xfer_order $descriptor0 $descriptor1
.reg read $sequence
.reg write $control0 $control1
.xfer_order $control0 $control1

.sig volatile claim
.sig volatile rung
.sig got filled valid

; Shared by the contexts: elements claimed and elements known to be sent, both
; counted on without end; differences are taken modulo 256.
.reg @claimed @sent

.reg free_queue tx_ring tx_sequence
#ifdef CORE_RING
.reg core_ring
    immed[core_ring, CORE_RING]
#endif

    load_constant(free_queue, FREE_BUFFERS)
    immed[tx_ring, TX_RING]
    immed[tx_sequence, TX_SEQUENCE_0]
    br!=ctx[0, transmit#]
    immed[@claimed, 0]
    immed[@sent, 0]
    turn_start(claim)

transmit#:
.begin
    .reg handle port length count element in_flight bytes control first address

    ctx_arb[claim]
    br[poll#]

empty#:
    timer_wait(POLL_GAP, rung)
poll#:
#ifdef CORE_RING
    ; The ring's status is that it is empty.
    br_!inp_state[CORE_RING_STATUS, core#]
none#:
#endif
    scratch[get, $descriptor0, tx_ring, 0, 2], ctx_swap[got]
    ld_field_w_clr[handle, 0111, $descriptor0], load_cc
    beq[empty#]
    alu_shf[port, --, B, $descriptor0, >>24]
    alu[length, --, B, $descriptor1]
#ifdef CORE_RING
sized#:
#endif
    alu[count, length, +, 63]
    alu_shf[count, --, B, count, >>6]

room#:
    alu[in_flight, --, B, @claimed]
    alu[in_flight, in_flight, -, @sent]
    alu[in_flight, in_flight, AND, 0xff]
    alu[in_flight, in_flight, +, count]
    alu[--, in_flight, -, IN_FLIGHT_LIMIT]
    blo[claimed#]
    msf[read, $sequence, tx_sequence, 0, 1], ctx_swap[got]
    alu[@sent, --, B, $sequence]
    br[room#]

claimed#:
    alu[element, --, B, @claimed]
    alu[@claimed, element, +, count]
    turn_pass(claim)
    alu[element, element, AND, (TBUF_ELEMENTS - 1)]

    buffer_address(address, handle)
    alu_shf[first, --, B, 1, <<TRANSMIT_SOP_BIT]

mpacket#:
    ; 64 bytes, or what is left of the frame; EOP with the last.
    alu[control, port, OR, first]
    alu[--, length, -, 65]
    bhs[more#], defer[1]
    immed[bytes, 64]
    alu[bytes, --, B, length]
    alu_shf[control, control, OR, 1, <<TRANSMIT_EOP_BIT]
more#:
    alu_shf[control, control, OR, bytes, <<24]
    transmit_fill(element, bytes, address, filled)
    transmit_validate(element, $control0, $control1, control, valid)

    immed[first, 0]
    alu[address, address, +, bytes]
    alu[element, element, +, 1]
    alu[element, element, AND, (TBUF_ELEMENTS - 1)]
    alu[length, length, -, bytes]
    bne[mpacket#]

    buffer_return(handle, free_queue)
    br[transmit#]

#ifdef CORE_RING
core#:
    scratch[get, $descriptor0, core_ring, 0, 1], ctx_swap[got]
    ld_field_w_clr[handle, 0111, $descriptor0], load_cc
    beq[none#]
    alu_shf[port, --, B, $descriptor0, >>24]
    descriptor_address(address, handle)
    sram[read, $descriptor0, address, DESCRIPTOR_LENGTH, 1], ctx_swap[got]
    br[sized#], defer[1]
    alu[length, --, B, $descriptor0]
#endif
.end
