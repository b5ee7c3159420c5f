; The congestion header: twelve bytes behind the IPv4 header, in the middle of frame
; longword 8. The rate that the flow may have in byte/s, a rate on its way back, the
; sender's round-trip time in 2^-14 s (16 bits, 0 if it is unknown), the protocol of
; what follows, the packet's type.

#ifndef RCP_HEADER_UC
#define RCP_HEADER_UC

; Total length of a packet that has both headers.
#define RCP_LEAST_TOTAL 32

; Types whose rate routers lower.
#define RCP_SYN  1
#define RCP_REF  3
#define RCP_DATA 5

; rcp_rate(rate)
;   rate <- the packet's rate.
#macro rcp_rate(rate)
    alu_shf[rate, --, B, $$h8, <<16]
    alu_shf[rate, rate, OR, $$h9, >>16]
#endm

; rcp_round_trip(rtt)
;   rtt <- the packet's round-trip time, with the condition codes.
#macro rcp_round_trip(rtt)
    alu[rtt, ones, AND, $$h10]
#endm

; rcp_asks(no#)
;   Goes on if routers may lower the packet's rate, to no# if not.
#macro rcp_asks(no)
    br=byte[$$h11, 2, RCP_DATA, asks#]
    br=byte[$$h11, 2, RCP_SYN, asks#]
    br!=byte[$$h11, 2, RCP_REF, no]
asks#:
#endm

; rcp_stamp(rate)
;   $$o8 and $$o9 <- the longwords that have the rate, with `rate`.
#macro rcp_stamp(rate)
.begin
    .reg edge
    alu_shf[edge, --, B, $$h8, >>16]
    dbl_shf[$$o8, edge, rate, >>16]
    alu[edge, ones, AND, $$h9]
    alu_shf[$$o9, edge, OR, rate, <<16]
.end
#endm

#endif
