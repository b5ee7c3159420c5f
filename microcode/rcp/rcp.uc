; rcp.uc: the rate control protocol in the processing stage.
;
; The slow path says in RCP_RATE what every flow may send, in byte/s: a longword for
; each group of ports. A packet that asks for a rate leaves with no more than that.
; Each context counts for itself what came of any protocol, so nothing is shared that anybody else
; writes. Its counters of a group in RCP_COUNTERS, 16 bytes, at (thread * groups +
; group) * 16:
;    0  bytes          of all packets
;    1  rtt_bytes      of those that carry a round-trip time
;    2  rtt_sum        of round-trip time * bytes, lower and upper half
; They only grow, modulo 2^32 and 2^64; the slow path takes differences.
;
; With RCP_EVERY_PACKET all packets are taken for data, whatever they carry. With
; RCP_PER_PORT each output port is a group, else all ports are group 0.

#ifndef RCP_UC
#define RCP_UC
#define EXTENSION_PORT_STATE
; Where RCP_RATE and RCP_COUNTERS are.
#ifndef RCP_SPACE
#define RCP_SPACE scratch
#endif
#ifndef RCP_COUNTERS_SPACE
#define RCP_COUNTERS_SPACE scratch
#endif
; The protocol number: none is assigned; this one is for experiments.
#ifndef RCP_PROTOCOL
#define RCP_PROTOCOL 254
#endif

#ifdef RCP_PER_PORT
#define THREAD_GROUPS PORT_COUNT
#else
#define THREAD_GROUPS 1
#endif

#ifdef RCP_PER_PORT
#ifdef RCP_RATE_SIZE
#if (RCP_RATE_SIZE < (PORT_COUNT << 2))
#error "RCP_RATE is too small: RCP_PER_PORT needs a longword for each port"
#endif
#endif
#endif

#include "constant.uc"
#include "fixed.uc"
#include "thread_counters.uc"
#include "header.uc"

#define RCP_COUNTERS_SHIFT 4

.reg read $rate
.reg write $count0 $count1 $count2 $count3
.xfer_order $count0 $count1 $count2 $count3
.sig rated kept

#macro extension_set_up()
    thread_counters_set_up(RCP_COUNTERS, RCP_COUNTERS_SHIFT)
#endm

; rcp_rate_read(port_out)
;   $rate <- the rate of the packet's group when `rated` is raised.
#macro rcp_rate_read(port_out)
.begin
    .reg place
    load_constant(place, RCP_RATE)
#ifdef RCP_PER_PORT
.begin
    .reg group
    alu_shf[group, --, B, port_out, <<2]
    alu[place, place, +, group]
.end
#endif
    RCP_SPACE[read, $rate, place, 0, 1], sig_done[rated]
.end
#endm

; rcp_arrive(size, port_out)
;   Counts a packet of `size` bytes with a congestion header. Raises `kept`.
#macro rcp_arrive(size, port_out)
.begin
    .reg rtt product place
    thread_counters_select(port_out)
    alu[THREAD_COUNTER[0], size, +, THREAD_COUNTER[0]]
    rcp_round_trip(rtt)
    beq[unknown#], defer[1]
    alu[$count0, --, B, THREAD_COUNTER[0]]
    multiply_16x16(product, rtt, size)
    alu[THREAD_COUNTER[1], size, +, THREAD_COUNTER[1]]
    alu[THREAD_COUNTER[2], product, +, THREAD_COUNTER[2]]
    alu[THREAD_COUNTER[3], THREAD_COUNTER[3], +carry, 0]
unknown#:
    alu[$count1, --, B, THREAD_COUNTER[1]]
    alu[$count2, --, B, THREAD_COUNTER[2]]
    alu[$count3, --, B, THREAD_COUNTER[3]]
    alu[place, --, B, THREAD_COUNTER[THREAD_RECORD_ADDRESS]]
    RCP_COUNTERS_SPACE[write, $count0, place, 0, 4], sig_done[kept]
.end
#endm

; rcp_arrive_other(size, port_out)
;   Counts a packet without a congestion header. Raises `kept`.
#macro rcp_arrive_other(size, port_out)
.begin
    .reg place
    thread_counters_select(port_out)
    alu[THREAD_COUNTER[0], size, +, THREAD_COUNTER[0]]
    alu[$count0, --, B, THREAD_COUNTER[0]]
    alu[place, --, B, THREAD_COUNTER[THREAD_RECORD_ADDRESS]]
    RCP_COUNTERS_SPACE[write, $count0, place, 0, 1], sig_done[kept]
.end
#endm

#macro extension_port_state(base, place, port_out)
    sram[read, $entry, base, place, 1], sig_done[fetched]
    rcp_rate_read(port_out)
    ctx_arb[fetched, rated]
#endm

#macro extension_finish()
    ctx_arb[written, noted, kept]
#endm

#macro extension_forward(buffer, port_out, total, done)
.begin
    .reg rate
#ifndef RCP_EVERY_PACKET
    br=byte[$$h5, 0, RCP_PROTOCOL, protocol#]
other#:
    ; Traffic, too.
    rcp_arrive_other(total, port_out)
    ipv4_rewrite(ttl_step)
    br[written#], defer[1]
    dram[write, $$o2, buffer, 8, 3], sig_done[done]
protocol#:
    alu[--, total, -, RCP_LEAST_TOTAL]
    blo[other#]
    ; Of a datagram in fragments the first one has the congestion header.
    alu_shf[rate, --, B, $$h5, <<3]
    alu_shf[rate, --, B, rate, >>19]
    bne[other#]
#endif
    ipv4_rewrite(ttl_step)
    rcp_rate(rate)
#ifndef RCP_EVERY_PACKET
    rcp_asks(kept#)
#endif
    least(rate, $rate)
kept#:
    rcp_stamp(rate)
    dram[write, $$o2, buffer, 8, 4], sig_done[done]
    ; Counting takes no longer than the write.
    rcp_arrive(total, port_out)
written#:
.end
#endm

#endif
