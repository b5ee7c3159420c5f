; The part of the processing stage that a congestion control protocol adds. A project
; chooses one by a define of its processing microengines; without any these
; macros do what a plain router does.
;
;   QUICK_START   microcode/quick-start
;   XCP           microcode/xcp
;   RCP           microcode/rcp
;   CUSTOM        extension_custom.uc, in a folder that the project includes
;
; A protocol has fields behind the 20 bytes of a plain IPv4 header, so the header
; is then read as far as frame longword 13 instead of 9, in the same reference.
; (With QUICK_START options may push the ports elsewhere.) Each defines these two:
;
; extension_set_up()
;   Run once by each context.
;
; extension_forward(buffer, port_out, total, done)
;   Between the choice of the next hop and the hand-over: writes back what
;   forwarding and the protocol change, and raises `done`. May wait, as for a lock.
;
; With `#define EXTENSION_OPTIONS` it also defines these, for headers with options:
;
; extension_options(length, total, sum, verdict, summed#)
;   A header of version 4 with options. Goes to summed# with total <- the total
;   length and sum <- the folded sum over the header, to drop# or exception#.
;
; extension_ports(ports)
;   ports <- source port << 16 | destination port.
;
; With `#define EXTENSION_PORT_STATE` it also defines these:
;
; extension_port_state(base, place, port_out)
;   $entry <- the output port's state, from SRAM at base + place. What the protocol
;   needs of the port can be read beside it.
;
; extension_finish()
;   Waits until what is written for the packet is out.

#ifndef EXTENSION_UC
#define EXTENSION_UC

; A field of 12 longwords and not 8 is read where there is an extension.
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

; Beside the port's state a plain router reads nothing.
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
