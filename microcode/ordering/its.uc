; its.uc: Inter Thread Signaling. Each context takes a packet from RBUF to TBUF; they
; take packets in order and they claim elements of TBUF in order, because signals go
; round all contexts of all microengines. In between they run free.
;
; ITS claims elements when a packet has been processed; what is claimed next stands in
; scratch, and the turn is kept until it is written back. With CLAIM_FIRST elements are
; claimed when a packet has been taken, so that none waits for the processing of
; another packet, and what is claimed next goes with the turn, in a register; scratch
; has it only on the way to the next microengine.

#include "constant.uc"
#define STAGE_FIRST FORWARD_FIRST
#define STAGE_COUNT FORWARD_COUNT
#include "turns.uc"
#include "receive.uc"
#include "claims.uc"
#include "ipv4.uc"

.num_contexts 8

.sig volatile start finish
.addr start 1
.addr finish 2
; With one microengine what is claimed next never leaves its register.
#if (!defined(CLAIM_FIRST) || STAGE_COUNT > 1)
.sig claimed
.reg read $place
.reg write $advance
#endif
.reg buffer

#ifdef CLAIM_FIRST
; The next element, as long as the turn is in this microengine.
.reg @next
#endif

.begin
    .reg context base
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu[--, context, -, CONTEXTS]
    blo[works#]
    ctx_arb[kill]
works#:
    alu_shf[base, --, B, context, <<11]
    load_constant(buffer, (PACKETS + (ME_INDEX - FORWARD_FIRST) * (CONTEXTS << 11)))
    alu[buffer, buffer, +, base]
    receive_ticket(ticket, arrived, $status)
    transmit_set_up()
    turns_set_up(context)
    br!=ctx[0, next#]
    immed[@left, 0]
#ifdef CLAIM_FIRST
    immed[@next, 0]
#endif
#if (ME_INDEX == FORWARD_FIRST)
    turn_start(start)
    turn_start(finish)
#endif
.end

; claim(place, end, parts)
;   place <- the next element, end <- the one behind `parts` elements; the turn goes
;   on to the next context.
#ifdef CLAIM_FIRST

#macro claim(place, end, parts)
.begin
#if (STAGE_COUNT > 1)
    .reg base
    immed[base, NEXT_PLACE]
#endif
    ctx_arb[finish]
#if (STAGE_COUNT > 1)
    br!=ctx[0, here#]
    scratch[read, $place, base, 0, 1], ctx_swap[claimed]
    alu[@next, --, B, $place]
here#:
#endif
    alu[place, --, B, @next]
    alu[end, place, +, parts]
    claim_bound(end)
    alu[@next, --, B, end]
#if (STAGE_COUNT > 1)
    alu[--, --, B, contexts_after]
    bne[there#]
    alu[$advance, --, B, end]
    scratch[write, $advance, base, 0, 1], ctx_swap[claimed]
there#:
#endif
    turns_pass(finish)
.end
#endm

#else

#macro claim(place, end, parts)
.begin
    .reg base
    immed[base, NEXT_PLACE]
    ctx_arb[finish]
    scratch[read, $place, base, 0, 1], ctx_swap[claimed]
    alu[place, --, B, $place]
    alu[end, place, +, parts]
    alu[$advance, --, B, end]
    scratch[write, $advance, base, 0, 1], sig_done[claimed]
    claim_bound(end)
    ctx_arb[claimed]
    turns_pass(finish)
.end
#endm

#endif

next#:
.begin
    .reg count status length port_out verdict place end parts

    ctx_arb[start]
    packet_take(count, status)
    turns_pass(start)

#ifdef CLAIM_FIRST
    packet_parts(parts, count, status)
    claim(place, end, parts)
    packet_store(length, count, status, buffer, verdict, drop#)
    ipv4_forward(port_out, buffer, length, verdict, drop#)
#else
    packet_store(length, count, status, buffer, verdict, drop#)
    ipv4_forward(port_out, buffer, length, verdict, drop#)
    alu[parts, length, +, 63]
    alu_shf[parts, --, B, parts, >>6]
    claim(place, end, parts)
#endif
    claim_wait(end)
    ipv4_written()
    packet_send(place, buffer, length, port_out)
    br[next#]

drop#:
    scratch[incr, --, verdict, 0]
#ifdef CLAIM_FIRST
    ; The elements are the packet's; nothing is sent from them.
    claim_wait(end)
    transmit_skip(place, end)
#else
    ctx_arb[finish]
    turns_pass(finish)
#endif
    br[next#]
.end
