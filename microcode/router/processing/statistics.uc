; Counters for management, in SRAM, added to by the controller.
;
; PORT_COUNTERS has four longwords a port: packets and bytes received, packets
; and bytes sent. IP_COUNTERS: datagrams received, datagrams forwarded.

#ifndef STATISTICS_UC
#define STATISTICS_UC

#define PORT_COUNTERS_SHIFT 4
#define PORT_IN_PACKETS     0
#define PORT_IN_BYTES       4
#define PORT_OUT_PACKETS    8
#define PORT_OUT_BYTES      12
#define IP_RECEIVED         0
#define IP_FORWARDED        4

; statistics_received(port, length, $bytes, done)
;   Counts a frame that came in. `done` is raised when $bytes may change.
#macro statistics_received(port, length, bytes, done)
.begin
    .reg place
    alu_shf[place, --, B, port, <<PORT_COUNTERS_SHIFT]
    sram[incr, --, port_counters, place]
    alu[place, place, +, PORT_IN_BYTES]
    alu[bytes, --, B, length]
    sram[add, bytes, port_counters, place], sig_done[done]
    sram[incr, --, ip_counters, IP_RECEIVED]
.end
#endm

; statistics_forwarded()
;   Counts a datagram that will be sent.
#macro statistics_forwarded()
    sram[incr, --, ip_counters, IP_FORWARDED]
#endm

; statistics_sent(port, length, base, $bytes, done)
;   Counts a frame that goes out; `base` holds PORT_COUNTERS.
#macro statistics_sent(port, length, base, bytes, done)
.begin
    .reg place
    alu_shf[place, --, B, port, <<PORT_COUNTERS_SHIFT]
    alu[place, place, +, PORT_OUT_PACKETS]
    sram[incr, --, base, place]
    alu[place, place, +, (PORT_OUT_BYTES - PORT_OUT_PACKETS)]
    alu[bytes, --, B, length]
    sram[add, bytes, base, place], sig_done[done]
.end
#endm

#endif
