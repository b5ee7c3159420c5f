; xcp.uc: the explicit control protocol (draft-falk-xcp-spec-03) in the processing
; stage.
;
; Each packet of the protocol adds to what arrived in the interval, and takes its
; share of the feedback that the slow path gave out for the interval. One define
; chooses how contexts share what they share:
;   XCP_LOCK         all of it under one lock; so it is without any of these
;   XCP_THREAD_SUMS  the pools under a lock; what arrived is counted by thread
;   XCP_SPLIT        pools by atomic commands, no lock
;   XCP_SHARES       pools by atomic commands, a microengine's contexts together
;   XCP_COPROCESSOR  a coprocessor has the pools
;
; With XCP_EVERY_PACKET all packets are taken for standard ones, whatever they
; carry. With XCP_PER_PORT each output port is a group with its own state, else all
; ports are group 0.

#ifndef XCP_UC
#define XCP_UC

; Where XCP_STATE and XCP_SUMS are.
#ifndef XCP_SPACE
#define XCP_SPACE scratch
#endif
#ifndef XCP_SUMS_SPACE
#define XCP_SUMS_SPACE scratch
#endif

#if (!defined(XCP_THREAD_SUMS) && !defined(XCP_SPLIT) && !defined(XCP_SHARES) && !defined(XCP_COPROCESSOR) && !defined(XCP_LOCK))
#define XCP_LOCK
#endif

#include "header.uc"

; Each of these gives:
;
; extension_set_up()
;   Run once by each context.
;
; xcp_exchange(buffer, delta, size, port_out, done)
;   A standard packet of `size` bytes that asks for `delta`: counts it, takes its
;   feedback and writes its header back.
;
; xcp_count(size, port_out)
;   A packet without a request: counts its bytes.
#ifdef XCP_LOCK
#include "feedback_lock.uc"
#endif
#ifdef XCP_THREAD_SUMS
#include "feedback_thread_sums.uc"
#endif
#ifdef XCP_SPLIT
#include "feedback_split.uc"
#endif
#ifdef XCP_SHARES
#include "feedback_shares.uc"
#endif
#ifdef XCP_COPROCESSOR
#include "feedback_coprocessor.uc"
#endif

#macro extension_forward(buffer, port_out, total, done)
.begin
    .reg delta
#ifndef XCP_EVERY_PACKET
    br=byte[$$h5, 0, XCP_PROTOCOL, protocol#]
plain#:
    ipv4_rewrite(ttl_step)
    br[written#], defer[1]
    dram[write, $$o2, buffer, 8, 3], sig_done[done]
counted#:
    xcp_count(total, port_out)
    br[plain#]
protocol#:
    alu[--, total, -, XCP_LEAST_TOTAL]
    blo[plain#]
    ; Of a datagram in fragments the first one has the congestion header.
    alu_shf[delta, --, B, $$h5, <<3]
    alu_shf[delta, --, B, delta, >>19]
    bne[counted#]
    br!=byte[$$h9, 3, XCP_STANDARD, counted#]
#endif
    xcp_request(delta)
    xcp_exchange(buffer, delta, total, port_out, done)
written#:
.end
#endm

#endif
