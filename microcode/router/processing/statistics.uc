; Counters for management, in SRAM, added to by the controller.
;
; PORT_COUNTERS has eight longwords a port: packets and bytes received, packets
; and bytes sent, each of 64 bits, the upper half first (the high-capacity
; counters of RFC 2863). IP_COUNTERS: datagrams received, datagrams forwarded.

#ifndef STATISTICS_UC
#define STATISTICS_UC

#define PORT_COUNTERS_SHIFT 5
#define PORT_IN_PACKETS     0
#define PORT_IN_BYTES       8
#define PORT_OUT_PACKETS    16
#define PORT_OUT_BYTES      24
#define IP_RECEIVED         0
#define IP_FORWARDED        4

; count_wide(place, amount, $value, done)
;   Adds `amount` to the 64-bit counter at port_counters + place and waits for
;   the old value, from which the carry is known.
#macro count_wide(place, amount, value, done)
.begin
    .reg sum low
    alu[value, --, B, amount]
    alu[low, place, +, 4]
    sram[test_and_add, value, port_counters, low], ctx_swap[done]
    alu[sum, amount, +, value]
    bcc[counted#]
    sram[incr, --, port_counters, place]
counted#:
.end
#endm

; statistics_received(port, length, $bytes, done)
;   Counts a frame that came in.
#macro statistics_received(port, length, bytes, done)
.begin
    .reg place one
    immed[one, 1]
    alu_shf[place, --, B, port, <<PORT_COUNTERS_SHIFT]
    count_wide(place, one, bytes, done)
    alu[place, place, +, (PORT_IN_BYTES - PORT_IN_PACKETS)]
    count_wide(place, length, bytes, done)
    sram[incr, --, ip_counters, IP_RECEIVED]
.end
#endm

; statistics_forwarded()
;   Counts a datagram that will be sent.
#macro statistics_forwarded()
    sram[incr, --, ip_counters, IP_FORWARDED]
#endm

; statistics_sent(port, length, $bytes, done)
;   Counts a frame that goes out.
#macro statistics_sent(port, length, bytes, done)
.begin
    .reg place one
    immed[one, 1]
    alu_shf[place, --, B, port, <<PORT_COUNTERS_SHIFT]
    alu[place, place, +, PORT_OUT_PACKETS]
    count_wide(place, one, bytes, done)
    alu[place, place, +, (PORT_OUT_BYTES - PORT_OUT_PACKETS)]
    count_wide(place, length, bytes, done)
.end
#endm

#endif
