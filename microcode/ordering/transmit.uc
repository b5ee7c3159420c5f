; Packets from a buffer into TBUF.
;
; Places in TBUF are counted on without end: element n of the sequence is element n
; modulo TBUF_ELEMENTS of TBUF. The transmitter sends in this order and waits where
; an element is not valid yet. A stage that only claims elements defines CLAIMS_ONLY.

#ifndef ORDERING_TRANSMIT_UC
#define ORDERING_TRANSMIT_UC

#include "tbuf.uc"
#include "timer.uc"

#if (TBUF_ELEMENT_SIZE != 64)
#error "elements of TBUF have 64 bytes here: media.transmit_element_size = 64"
#endif

#define TRANSMIT_SKIP_BIT 11

; Steps of 16 cycles in which an mpacket of 64 bytes leaves, rounded down.
#define MPACKET_STEPS 6

; Elements ahead for which it is worth to sleep longer still.
#define MOST_STEPS 40

.reg read $sequence
.sig valid
.sig volatile rung

; transmit_room(ahead, place, limit)
;   Waits until at most `limit` elements before `place` of the sequence have not left;
;   ahead <- how many these are. The transmitter counts in eight bits: `place` must be
;   less than 256 elements ahead of it.
#macro transmit_room(ahead, place, limit)
.begin
    .reg base surplus
    br[look#]
wait#:
    alu[--, surplus, -, MOST_STEPS]
    ble[near#]
    immed[surplus, MOST_STEPS]
near#:
    alu_shf[base, --, B, surplus, <<2]
    alu_shf[surplus, --, B, surplus, <<1]
    alu[surplus, surplus, +, base]
    timer_wait(surplus, rung)
look#:
    immed[base, TX_SEQUENCE_0]
    msf[read, $sequence, base, 0, 1], ctx_swap[valid]
    alu[ahead, place, -, $sequence]
    alu[ahead, ahead, AND, 0xff]
    alu[surplus, ahead, -, limit]
    bgt[wait#]
.end
#endm

#ifndef CLAIMS_ONLY
.reg write $control0 $control1
.xfer_order $control0 $control1
.sig filled sent

; transmit_set_up()
;   To be run once by each context: there is no control word yet that it must wait for.
#macro transmit_set_up()
.begin
    .reg base
    immed[base, TX_SEQUENCE_0]
    msf[read, $sequence, base, 0, 1], sig_done[sent]
.end
#endm

; packet_send(place, buffer, length, port_out)
;   Fills the elements from `place` of the sequence with a packet; place <- the one
;   behind it.
#macro packet_send(place, buffer, length, port_out)
.begin
    .reg left address element control bytes first
#ifdef __IXP28XX
    ; Room in the port's FIFO is not asked for by the bus here.
full#:
    transmit_status(control, port_out, $sequence, valid)
    alu[--, control, -, 2]
    bne[open#]
    immed[control, MPACKET_STEPS]
    timer_wait(control, rung)
    br[full#]
open#:
#endif
    alu[left, --, B, length]
    alu[address, --, B, buffer]
    alu_shf[first, --, B, 1, <<TRANSMIT_SOP_BIT]
mpacket#:
    alu[element, place, AND, (TBUF_ELEMENTS - 1)]
    alu[control, port_out, OR, first]
    alu[--, left, -, 65]
    bhs[more#], defer[1]
    immed[bytes, 64]
    alu[bytes, --, B, left]
    alu_shf[control, control, OR, 1, <<TRANSMIT_EOP_BIT]
more#:
    alu_shf[control, control, OR, bytes, <<24]
    transmit_fill(element, bytes, address, filled)
    ctx_arb[sent]
    transmit_send(element, $control0, $control1, control, sent)
    immed[first, 0]
    alu[address, address, +, bytes]
    alu[place, place, +, 1]
    alu[left, left, -, bytes]
    bne[mpacket#]
.end
#endm

; transmit_skip(place, end)
;   Lets the transmitter pass over the elements from `place` to before `end`;
;   place <- end.
#macro transmit_skip(place, end)
.begin
    .reg element control
    br[test#]
skip#:
    alu[element, place, AND, (TBUF_ELEMENTS - 1)]
    alu_shf[control, --, B, 1, <<TRANSMIT_SKIP_BIT]
    ctx_arb[sent]
    transmit_send(element, $control0, $control1, control, sent)
    alu[place, place, +, 1]
test#:
    alu[--, place, -, end]
    bne[skip#]
.end
#endm
#endif

#endif
