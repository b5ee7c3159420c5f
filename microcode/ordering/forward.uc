; forward.uc: each context takes a packet from RBUF to TBUF, then the next one.
;
; Contexts run free: one that is done asks for the next packet. What is settled is
; only which elements of TBUF a context may fill, by one of four schemes:
;
;   SLOTS_CONTIGUOUS  every context has a slot, those of a microengine side by side
;   SLOTS_STRIDED     every context has a slot, the first contexts of all
;                     microengines side by side, then the second ones
;   SLOTS_LOCAL       every microengine has as many slots as contexts, side by side;
;                     its contexts claim the next one under a mutex. With SLOTS_HELD
;                     they hold that for as long as they have a packet, so that a
;                     microengine has one at a time
;   SLOTS_GLOBAL      the next elements, in order of asking; claimed under one mutex in
;                     scratch
;
; The transmitter sends TBUF strictly in order, so that a slot that is not filled
; keeps those behind it waiting.

#include "constant.uc"
#include "receive.uc"
#include "transmit.uc"
#include "ipv4.uc"
#include "ticket.uc"
#include "turn.uc"
#include "slots.uc"

.num_contexts 8

#ifndef SLOTS_HELD
#define SLOTS_HELD 0
#endif

.reg buffer

; held_begin(), held_end()
;   The time of a packet in a microengine that has one at a time: contexts that have a
;   slot take turns.
#if (SLOTS_HELD)
.sig volatile hold
.reg pass_hold

#macro held_begin()
    ctx_arb[hold]
#endm

#macro held_end()
    local_csr_wr[SAME_ME_SIGNAL, pass_hold]
    .set_sig hold
#endm

#macro held_set_up(context)
    alu[pass_hold, context, +, 1]
    alu[--, pass_hold, -, CONTEXTS_USED]
    blo[others#]
    immed[pass_hold, 0]
others#:
    alu[pass_hold, pass_hold, OR, (&hold << 3)]
    alu[--, --, B, context]
    bne[placed#]
    turn_start(hold)
placed#:
#endm
#define AFTER_IDLE over#
#else
#define AFTER_IDLE next#
#macro held_begin()
#endm

#macro held_end()
#endm

#macro held_set_up(context)
#endm
#endif

.begin
    .reg context base
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    ; Contexts without a slot do not take part.
    alu[--, context, -, CONTEXTS_USED]
    blo[works#]
    ctx_arb[kill]
works#:
    alu_shf[base, --, B, context, <<11]
    load_constant(buffer, (PACKETS + (ME_INDEX - FORWARD_FIRST) * (CONTEXTS_USED << 11)))
    alu[buffer, buffer, +, base]
    receive_ticket(ticket, arrived, $status)
    transmit_set_up()
    slots_set_up(context)
    held_set_up(context)
.end

next#:
.begin
    .reg count status length port_out verdict place end

    held_begin()
    receive_take(count, status)
    alu[--, --, B, count]
    beq[idle#]
    packet_store(length, count, status, buffer, verdict, drop#)
    slot_fits(length, verdict, drop#)
    ipv4_forward(port_out, buffer, length, verdict, drop#)
    slot_claim(place, end, length)
    ipv4_written()
    packet_send(place, buffer, length, port_out)
#if (SLOT_PARTS > 1)
    transmit_skip(place, end)
#endif
    held_end()
    br[next#]

idle#:
    ; No packet comes. Packets behind this context's slot must not wait for ever: when
    ; some wait, and the transmitter waits for this very slot, the slot is skipped.
#if (!SLOTS_GLOBAL)
    immed[place, TX_SEQUENCE_0]
    msf[read, $sequence, place, 0, 1], ctx_swap[valid]
    br_bset[$sequence, 31, AFTER_IDLE]
    slot_next(place)
    alu[place, place, -, $sequence]
    alu[--, place, AND, 0xff]
    bne[AFTER_IDLE]
    immed[length, 1]
    slot_claim(place, end, length)
    transmit_skip(place, end)
#endif
#if (SLOTS_HELD)
over#:
#endif
    held_end()
    br[next#]

drop#:
    scratch[incr, --, verdict, 0]
    held_end()
    br[next#]
.end
