; Sums over arrivals, counted by each thread for itself. A group's longwords of a thread in
; XCP_SUMS, 32 bytes, at (thread * groups + group) * 32:
;    0  input_traffic  bytes that arrived
;    1  sum_x          sum of the times between packets, lower and upper half
;    3  sum_xrtt       sum of time between packets * round-trip time >> 12
; both of packets whose round-trip time is known, not 0.
; They only grow, modulo 2^32 and 2^64; the slow path takes differences.

#ifndef XCP_SUMS_UC
#define XCP_SUMS_UC

#ifdef XCP_PER_PORT
#define THREAD_GROUPS PORT_COUNT
#else
#define THREAD_GROUPS 1
#endif
#define XCP_SUMS_SHIFT 5

#include "thread_counters.uc"
#include "fixed.uc"

.reg write $sum0 $sum1 $sum2 $sum3 $sum4
.xfer_order $sum0 $sum1 $sum2 $sum3 $sum4
#ifdef XCP_SUMS_LATER
.sig volatile summed
#else
.sig summed
#endif

; xcp_summed_before()
;   $sum0 to $sum4 may be used again.
#macro xcp_summed_before()
#ifdef XCP_SUMS_LATER
    br_signal[summed, before#]
    ctx_arb[summed]
before#:
#endif
#endm

; xcp_arrive(size, port_out)
;   Steps 1 to 6 of the draft. Raises `summed`. With XCP_SUMS_LATER the signal of the
;   packet before has not been waited for yet.
#macro xcp_arrive(size, port_out)
.begin
    .reg x rtt high low place
    thread_counters_select(port_out)
    xcp_summed_before()
    alu[x, --, B, *l$index1[XCP_TIMED]]
    alu[rtt, --, B, *l$index1[XCP_RTT]]
    multiply_32x32(high, low, x, rtt)
    alu[THREAD_COUNTER[0], size, +, THREAD_COUNTER[0]]
    alu[$sum0, --, B, THREAD_COUNTER[0]]
    alu[THREAD_COUNTER[1], x, +, THREAD_COUNTER[1]]
    alu[THREAD_COUNTER[2], THREAD_COUNTER[2], +carry, 0]
    alu[$sum1, --, B, THREAD_COUNTER[1]]
    alu[$sum2, --, B, THREAD_COUNTER[2]]
    alu[THREAD_COUNTER[3], low, +, THREAD_COUNTER[3]]
    alu[THREAD_COUNTER[4], high, +carry, THREAD_COUNTER[4]]
    alu[$sum3, --, B, THREAD_COUNTER[3]]
    alu[$sum4, --, B, THREAD_COUNTER[4]]
    alu[place, --, B, THREAD_COUNTER[THREAD_RECORD_ADDRESS]]
    XCP_SUMS_SPACE[write, $sum0, place, 0, 5], sig_done[summed]
.end
#endm

; xcp_count(size, port_out)
;   The bytes of a packet without a request.
#macro xcp_count(size, port_out)
.begin
    .reg place
    thread_counters_select(port_out)
    xcp_summed_before()
    alu[THREAD_COUNTER[0], size, +, THREAD_COUNTER[0]]
    alu[$sum0, --, B, THREAD_COUNTER[0]]
    alu[place, --, B, THREAD_COUNTER[THREAD_RECORD_ADDRESS]]
    XCP_SUMS_SPACE[write, $sum0, place, 0, 1], sig_done[summed]
#ifndef XCP_SUMS_LATER
    ctx_arb[summed]
#endif
.end
#endm

#macro xcp_sums_set_up()
    thread_counters_set_up(XCP_SUMS, XCP_SUMS_SHIFT)
#ifdef XCP_SUMS_LATER
.begin
    ; As if there had been a packet.
    .reg place
    immed[$sum0, 0]
    alu[place, --, B, THREAD_COUNTER[THREAD_RECORD_ADDRESS]]
    XCP_SUMS_SPACE[write, $sum0, place, 0, 1], sig_done[summed]
.end
#endif
#endm

#endif
