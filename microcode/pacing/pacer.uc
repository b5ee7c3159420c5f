; pacer.uc: gives packets their due times. Four contexts of one microengine.
;
; Packets come in order by the router's sequence slots. This microengine alone reads and
; writes the due times of flows, so none is locked: two turns keep contexts in order.
;
;   look   take the next slot
;   flow   from the flow's record to the next-neighbour ring
;
; A packet is due when the flow's next packet is, or now if that has passed: an idle
; time earns no burst. The next one is due a gap later. A packet that would wait longer
; than HORIZON is dropped, and takes nothing of its flow's time.

#include "constant.uc"
#include "timer.uc"
#include "turn.uc"
#include "buffer.uc"
#include "../router/router.uc"
#include "../router/rest.uc"
#include "pacing.uc"

; Steps of 16 cycles that a packet may wait: 0.89 s.
#ifndef HORIZON
#define HORIZON 0x2000000
#endif

; Steps between two looks at a slot that is not filled yet, the first ones where
; REST_LONGEST lets rests grow.
#ifndef REST
#define REST 2
#endif

#if (HORIZON > 0x20000000)
#error "HORIZON: a time is taken for past unless it is less than 2^30 steps ahead"
#endif
#if (PORT_COUNT > 4)
#error "a slot has two bits for the port"
#endif
#if (FLOW_COUNT >= FLOW_LIMIT)
#error "[[flow]]: a slot has eleven bits for the flow's number: 2047 flows at most"
#endif
#if (((FLOW_COUNT + 1) << FLOW_RECORD_SHIFT) > FLOW_RECORDS_SIZE)
#error "FLOW_RECORDS: 64 bytes for each flow, and for packets of none"
#endif

; How the stage `wheel` is addressed by INTERTHREAD_SIGNAL: its microengine's five-bit
; number, context 0, WOKEN_SIGNAL.
#ifdef IXP2800
#define CLUSTER 8
#else
#define CLUSTER 4
#endif
#if (WHEEL_FIRST < CLUSTER)
#define_eval WHEEL_NUMBER WHEEL_FIRST
#else
#define_eval WHEEL_NUMBER (WHEEL_FIRST - CLUSTER + 16)
#endif
#if ((ME_INDEX + 1) != WHEEL_FIRST)
#error "the wheel must be on the microengine after the pacer's"
#endif

.num_contexts 4

.reg read $slot0 $slot1 $slot2
.xfer_order $slot0 $slot1 $slot2
.reg read $due $fraction $packets $gap
.xfer_order $due $fraction $packets $gap
.reg read $acked $repeated $bytes $losses $rtt $rtts $timed $timed_at
.xfer_order $acked $repeated $bytes $losses $rtt $rtts $timed $timed_at
.reg read $number
.reg read $called
.reg write $next
.reg write $new_due $new_fraction $new_packets
.xfer_order $new_due $new_fraction $new_packets
.reg write $new_acked $new_repeated $new_bytes $new_losses $new_rtt $new_rtts $new_timed $new_timed_at
.xfer_order $new_acked $new_repeated $new_bytes $new_losses $new_rtt $new_rtts $new_timed $new_timed_at

.sig volatile look flow
.sig volatile rung published
.sig seen fetched counted told written asked

; Shared by the contexts: the number that comes next.
.reg @expected

.reg slots next_slot records called free_queue horizon context

    load_constant(slots, SEQUENCE_SLOTS)
    load_constant(next_slot, NEXT_SLOT)
    load_constant(records, FLOW_RECORDS)
    load_constant(called, WHEEL_CALLED)
    load_constant(free_queue, FREE_BUFFERS)
    load_constant(horizon, HORIZON)
    ; The number before the first is published.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu[context, context, OR, (&published << 3)]
    local_csr_wr[SAME_ME_SIGNAL, context]
    .set_sig published

    br!=ctx[0, packet#]
    load_constant(@expected, FIRST_SEQUENCE)
    turn_start(look)
    turn_start(flow)

packet#:
.begin
    .reg place tag queue record handle now due ahead fraction gap limit base

#if (REST_LONGEST > REST)
    .reg rest
    immed[rest, REST]
#endif
    ctx_arb[look, published]
slot#:
    alu[place, @expected, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    scratch[read, $slot0, slots, place, 3], ctx_swap[seen]
    alu_shf[tag, --, B, $slot0, >>16]
    alu[--, tag, XOR, @expected]
    bne[late#]
    alu[tag, tag, +, 1]
    ld_field[tag, 1100, 0]
    alu[@expected, --, B, tag]
    alu[$next, --, B, tag]
    br_bset[$slot0, SLOT_SKIP_BIT, skip#], defer[1]
    ld_field_w_clr[queue, 0011, $slot0]
    scratch[write, $next, next_slot, 0, 1], sig_done[published]
    turn_pass(look)

    alu_shf[record, --, B, queue, >>FLOW_SHIFT]
    alu_shf[record, --, B, record, <<FLOW_RECORD_SHIFT]
    alu[record, record, +, records]
    alu[handle, --, B, $slot1]
    metadata_address(place, handle)

    ctx_arb[flow]
    time_now(now)
    br_bset[queue, KIND_ACKNOWLEDGES_BIT, acknowledges#]
    sram[read, $due, record, FLOW_DUE, 4], sig_done[fetched]
    br_bset[queue, KIND_TCP_BIT, segment#]
    ctx_arb[fetched]
fetched#:
    alu[due, --, B, $due]
    alu[gap, --, B, $gap]
    alu[fraction, --, B, $fraction]
    alu[ahead, due, -, now]
    alu[--, horizon, -, ahead]
    bhs[paced#]
    ; Behind now, unless it is the flow's next packet that is so far ahead.
    alu_shf[limit, --, B, gap, >>8]
    alu[limit, limit, +, horizon]
    alu[--, limit, -, ahead]
    bhs[far#]
    alu[due, --, B, now]
    immed[fraction, 0]
paced#:
    alu[fraction, fraction, +, gap]
    alu[$new_fraction, fraction, AND, 0xff]
    alu_shf[fraction, --, B, fraction, >>8]
    alu[$new_due, due, +, fraction]
    alu[$new_packets, $packets, +, 1]
    sram[write, $new_due, record, FLOW_DUE, 3], sig_done[written]
    br_bset[queue, KIND_TCP_BIT, time#]

message#:
    br_inp_state[NN_FULL, full#]
    alu[*n$index++, --, B, handle]
    alu[*n$index++, --, B, due]
    turn_pass(flow)
    scratch[test_and_incr, $called, called, 0], sig_done[asked]
    ctx_arb[asked, written]
    alu[--, --, B, $called]
    bne[packet#]
    immed[base, ((WHEEL_NUMBER << 7) | WOKEN_SIGNAL)]
    alu[--, --, B, base]
    cap[fast_wr, ALU, INTERTHREAD_SIGNAL]
    br[packet#]

full#:
    ctx_arb[voluntary]
    br[message#]

    ; ---- the flow has more waiting than it may ----
far#:
    turn_pass(flow)
    immed[tag, DROP_FLOW_BEHIND]
    scratch[incr, --, tag, 0]
    buffer_return(handle, free_queue)
    br[packet#]

    ; ---- TCP: the round-trip time of one segment at a time, from its due time ----
segment#:
    sram[read, $acked, record, FLOW_ACKED, 8], sig_done[counted]
    sram[read, $number, place, META_SEQUENCE, 1], sig_done[told]
    ctx_arb[fetched, counted, told]
    br[fetched#]

time#:
    alu[$new_timed, --, B, $number]
    alu[--, --, B, $timed_at]
    bne[measuring#], defer[1]
    immed[tag, 1]
    alu[$new_timed_at, tag, OR, due]
    sram[write, $new_timed, record, FLOW_TIMED, 2], ctx_swap[told]
    br[message#]
measuring#:
    ; Sent again: it is not known which of both will be acknowledged.
    alu[tag, --, B, $number]
    alu[--, tag, XOR, $timed]
    bne[message#]
    alu[$new_timed_at, --, B, 0]
    sram[write, $new_timed, record, FLOW_TIMED, 2], ctx_swap[told]
    br[message#]

    ; ---- an acknowledgement without data ----
acknowledges#:
    sram[read, $acked, record, FLOW_ACKED, 8], sig_done[counted]
    sram[read, $number, place, META_SEQUENCE, 1], sig_done[told]
    ctx_arb[counted, told]
.begin
    .reg acked repeated bytes losses at rtts step number
    alu[number, --, B, $number]
    alu[due, --, B, now]
    alu[bytes, --, B, $bytes]
    alu[losses, --, B, $losses]
    alu[rtts, --, B, $rtts]
    alu[$new_timed, --, B, $timed]
    alu[$new_rtt, --, B, $rtt]
    alu[at, --, B, $timed_at]
    beq[untimed#]
    alu[step, number, -, $timed]
    bmi[untimed#]
    alu[$new_rtt, now, -, at]
    alu[rtts, rtts, +, 1]
    immed[at, 0]
untimed#:
    alu[repeated, --, B, $repeated]
    alu[acked, --, B, $acked]
    beq[first#]
    alu[step, number, -, acked]
    beq[again#]
    bmi[counted#]
    alu[bytes, bytes, +, step]
first#:
    alu[acked, --, B, number]
    br[counted#], defer[1]
    immed[repeated, 0]
again#:
    alu[repeated, repeated, +, 1]
    alu[--, repeated, -, 3]
    bne[counted#]
    ; A loss. What is measured may be what was lost.
    alu[losses, losses, +, 1]
    immed[at, 0]
counted#:
    alu[$new_acked, --, B, acked]
    alu[$new_repeated, --, B, repeated]
    alu[$new_bytes, --, B, bytes]
    alu[$new_losses, --, B, losses]
    alu[$new_timed_at, --, B, at]
    alu[$new_rtts, --, B, rtts]
    br[message#], defer[1]
    sram[write, $new_acked, record, FLOW_ACKED, 8], sig_done[written]
.end

late#:
#if (REST_LONGEST > REST)
    rest_for(rest, rung)
#else
    timer_wait(REST, rung)
#endif
    br[slot#]

skip#:
    scratch[write, $next, next_slot, 0, 1], sig_done[published]
    ctx_arb[published]
    br[slot#]

.end
