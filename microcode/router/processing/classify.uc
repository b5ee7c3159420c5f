; Behaviour aggregates: the DSCP chooses the class of service (RFC 2474). The
; table DSCP_CLASSES has a longword for each of the 64 code points.

#ifndef CLASSIFY_UC
#define CLASSIFY_UC

; class_request(place, $class, done)
;   Asks for the class of the packet whose TOS octet is the last of $$h3; it
;   comes to $class when `done` is raised. `place` is a register to work with.
#macro class_request(place, class, done)
    alu[place, $$h3, AND, 0xfc]
    sram[read, class, classes, place, 1], sig_done[done]
#endm

; class_queue(queue, port, $class)
;   queue <- number of the class's queue at an output port.
#macro class_queue(queue, port, class)
    alu_shf[queue, class, OR, port, <<CLASS_SHIFT]
#endm

#endif
