; The congestion header: twenty bytes behind the IPv4 header, in the middle of
; frame longword 8. Protocol, length, version << 4 | format, 0; then four
; longwords: the sender's time between packets X and its round-trip time in steps of
; 2^-28 s, feedback on its way back, and the change of throughput Delta in byte/s
; that the sender asks for and routers lower.

#ifndef XCP_HEADER_UC
#define XCP_HEADER_UC

; The protocol number: none is assigned; this one is for experiments.
#ifndef XCP_PROTOCOL
#define XCP_PROTOCOL 253
#endif
; Version 3, format 1.
#define XCP_STANDARD 0x31
; Total length of a packet that has both headers.
#define XCP_LEAST_TOTAL 40
; MAX_INTERVAL, 1 s in steps of 2^-28 s.
#define XCP_MAX_INTERVAL_LOG 28
; Round-trip times lose this many bits before they are multiplied.
#define XCP_RTT_SHIFT 12

; Fields in the context's local memory, of which ACTIVE_LM_ADDR_1 is the address.
#define XCP_X     6
#define XCP_RTT   7
; X as the sums count it: 0 of a packet whose sender does not know the round-trip
; time, which is 0 then. It would be in one sum and not in the other.
#define XCP_TIMED 9

; xcp_delta(delta)
;   delta <- the change that the packet asks for.
#macro xcp_delta(delta)
    alu_shf[delta, --, B, $$h12, <<16]
    alu_shf[delta, delta, OR, $$h13, >>16]
#endm

; xcp_request(delta)
;   delta <- the change that the packet asks for; in local memory the time between
;   packets, the same for the sums, and the round-trip time up to MAX_INTERVAL and
;   without its lowest bits.
#macro xcp_request(delta)
.begin
    .reg x rtt
    alu_shf[x, --, B, $$h9, <<16]
    alu_shf[x, x, OR, $$h10, >>16]
    alu[*l$index1[XCP_X], --, B, x]
    alu_shf[rtt, --, B, $$h10, <<16]
    alu_shf[rtt, rtt, OR, $$h11, >>16]
    bne[timed#], defer[1]
    alu[*l$index1[XCP_TIMED], --, B, x]
    immed[*l$index1[XCP_TIMED], 0]
timed#:
    ; The smaller of both, MAX_INTERVAL being a power of two.
    alu_shf[--, --, B, rtt, >>XCP_MAX_INTERVAL_LOG]
    beq[known#], defer[1]
    alu_shf[*l$index1[XCP_RTT], --, B, rtt, >>XCP_RTT_SHIFT]
    alu_shf[*l$index1[XCP_RTT], --, B, 1, <<(XCP_MAX_INTERVAL_LOG - XCP_RTT_SHIFT)]
known#:
    xcp_delta(delta)
.end
#endm

; xcp_answer_begin()
;   What stays as it was of the header in $$o8 to $$o11.
#macro xcp_answer_begin()
    alu[$$o8, --, B, $$h8]
    alu[$$o9, --, B, $$h9]
    alu[$$o10, --, B, $$h10]
    alu[$$o11, --, B, $$h11]
#endm

; xcp_answer_delta(delta)
;   The rest of it, with `delta`, in $$o12 and $$o13.
#macro xcp_answer_delta(delta)
.begin
    .reg edge
    alu_shf[edge, --, B, $$h12, >>16]
    alu_shf[edge, --, B, edge, <<16]
    alu_shf[$$o12, edge, OR, delta, >>16]
    alu[edge, ones, AND, $$h13]
    alu_shf[$$o13, edge, OR, delta, <<16]
.end
#endm

; xcp_answer_write(buffer, done)
;   Writes the packet's headers back, $$o2 to $$o13.
#macro xcp_answer_write(buffer, done)
    dram[write, $$o2, buffer, 8, 6], sig_done[done]
#endm

#endif
