; The part of the processing stage that a congestion control protocol adds. A project
; selects one with a define for its processing microengines; without one, these
; macros do what a plain router does.
;
;   QUICK_START   microcode/quick-start
;   XCP           microcode/xcp
;   RCP           microcode/rcp
;   CUSTOM        extension_custom.uc, in a folder that the project includes
;
; A protocol has fields after the 20 bytes of a plain IPv4 header, so the same DRAM read
; then reaches frame longword 13 instead of 9. (With QUICK_START, options may move the
; ports elsewhere.) Each protocol defines these two:
;
; extension_set_up()
;   Run once by each context.
;
; extension_forward(buffer, port_out, total, done)
;   Between the choice of the next hop and the hand-over: writes back what
;   forwarding and the protocol change, and raises `done`. May wait, e.g. for a lock.
;
; With `#define EXTENSION_OPTIONS` it also defines these, for headers with options:
;
; extension_options(length, total, sum, verdict, summed#)
;   Handles a version 4 header with options. Branches to summed# with total <- the
;   total length and sum <- the folded sum over the header, or to drop# or exception#.
;
; extension_ports(ports)
;   ports <- source port << 16 | destination port.
;
; With `#define EXTENSION_PORT_STATE` it also defines these:
;
; extension_port_state(base, place, port_out)
;   $entry <- the output port's state, from SRAM at base + place. May also read
;   whatever else the protocol needs to know about the port.
;
; extension_finish()
;   Waits until everything written for the packet has been stored.

#ifndef EXTENSION_UC
#define EXTENSION_UC

; With an extension, 12 longwords of the header are read instead of 8.
#ifdef QUICK_START
#define EXTENDED
#include "../../quick-start/quick_start.uc"
#endif
#ifdef XCP
#define EXTENDED
#include "../../xcp/xcp.uc"
#endif
#ifdef RCP
#define EXTENDED
#include "../../rcp/rcp.uc"
#endif
#ifdef CUSTOM
#define EXTENDED
#include "extension_custom.uc"
#endif

#ifndef EXTENDED
#macro extension_set_up()
#endm

#macro extension_forward(buffer, port_out, total, done)
    ipv4_rewrite(ttl_step)
    dram[write, $$o2, buffer, 8, 3], sig_done[done]
#endm
#endif

; A plain router reads only the port's state.
#ifndef EXTENSION_PORT_STATE
#macro extension_port_state(base, place, port_out)
    sram[read, $entry, base, place, 1], ctx_swap[fetched]
#endm

#macro extension_finish()
    ctx_arb[written, noted]
#endm
#endif

; A plain router leaves options to the slow path.
#ifndef EXTENSION_OPTIONS
#macro extension_options(length, total, sum, verdict, summed)
    br[exception#], defer[1]
    immed[verdict, EXCEPTION_OPTIONS]
#endm

#macro extension_ports(ports)
    alu_shf[ports, --, B, $$h8, <<16]
    alu_shf[ports, ports, OR, $$h9, >>16]
#endm
#endif

#endif
