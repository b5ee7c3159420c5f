; forward.uc: each context takes a packet from RBUF to TBUF, then the next one.
;
; Contexts run free: whoever is done asks for the next packet. What is settled is
; only which elements of TBUF a context may fill, by one of four schemes:
;
;   SLOTS_CONTIGUOUS  every context has a slot, those of a microengine side by side
;   SLOTS_STRIDED     every context has a slot, the first contexts of all
;                     microengines side by side, then the second ones
;   SLOTS_LOCAL       every microengine has as many slots as contexts, side by side;
;                     its contexts claim the next one under a mutex
;   SLOTS_GLOBAL      the next elements, whoever comes; claimed under one mutex in
;                     scratch
;
; The transmitter sends TBUF strictly in order, so that a slot that is not filled
; keeps those behind it waiting.

#include "constant.uc"
#include "receive.uc"
#include "transmit.uc"
#include "ipv4.uc"
#include "ticket.uc"
#include "slots.uc"

.num_contexts 8

.reg buffer

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
.end

next#:
.begin
    .reg count status length port_out verdict place end

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
    br[next#]

idle#:
    ; Nothing comes. Packets behind this context's slot must not wait for ever: when
    ; some wait, and the transmitter for this very slot, it is passed over.
#if (!SLOTS_GLOBAL)
    immed[place, TX_SEQUENCE_0]
    msf[read, $sequence, place, 0, 1], ctx_swap[valid]
    br_bset[$sequence, 31, next#]
    slot_next(place)
    alu[place, place, -, $sequence]
    alu[--, place, AND, 0xff]
    bne[next#]
    immed[length, 1]
    slot_claim(place, end, length)
    transmit_skip(place, end)
#endif
    br[next#]

drop#:
    scratch[incr, --, verdict, 0]
    br[next#]
.end
