; Management counters in SRAM, updated by the SRAM controller.
;
; PORT_COUNTERS has eight longwords per port: packets and bytes received, packets
; and bytes sent, 64 bits each, upper half first (the high-capacity counters of
; RFC 2863). IP_COUNTERS: datagrams received, datagrams forwarded.

#ifndef STATISTICS_UC
#define STATISTICS_UC

; With 32, the upper halves are not updated and the lower ones wrap: cheaper per
; packet, but the counters must be read before they wrap around.
#ifndef PORT_COUNTER_BITS
#define PORT_COUNTER_BITS 64
#endif

#define PORT_COUNTERS_SHIFT 5
#define PORT_IN_PACKETS     0
#define PORT_IN_BYTES       8
#define PORT_OUT_PACKETS    16
#define PORT_OUT_BYTES      24
#define IP_RECEIVED         0
#define IP_FORWARDED        4

; wide_add(place, amount, $value, done)
;   Adds `amount` to the 64-bit counter at port_counters + place. The previous lower
;   half is in $value when `done` is raised.
#macro wide_add(place, amount, value, done)
.begin
    .reg low
    alu[value, --, B, amount]
    alu[low, place, +, 4]
    sram[test_and_add, value, port_counters, low], sig_done[done]
.end
#endm

; wide_carry(place, amount, $value)
;   Carries into the upper half, once the previous lower half is in $value.
#macro wide_carry(place, amount, value)
#if (PORT_COUNTER_BITS == 64)
    alu[--, amount, +, value]
    bcc[small#]
    sram[incr, --, port_counters, place]
small#:
#endif
#endm

; statistics_begin(place, port, length, which, $packets, $bytes, counted0, counted1)
;   Counts a frame of `length` bytes at `port`; `which` is PORT_IN_PACKETS or
;   PORT_OUT_PACKETS. Call statistics_end once both signals are raised.
#macro statistics_begin(place, port, length, which, packets, bytes, counted0, counted1)
.begin
    .reg one bytes_at
    immed[one, 1]
    alu_shf[place, --, B, port, <<PORT_COUNTERS_SHIFT]
    alu[place, place, +, which]
    wide_add(place, one, packets, counted0)
    alu[bytes_at, place, +, (PORT_IN_BYTES - PORT_IN_PACKETS)]
    wide_add(bytes_at, length, bytes, counted1)
.end
#endm

; statistics_end(place, length, $packets, $bytes)
#macro statistics_end(place, length, packets, bytes)
.begin
    .reg one
    immed[one, 1]
    wide_carry(place, one, packets)
    alu[place, place, +, (PORT_IN_BYTES - PORT_IN_PACKETS)]
    wide_carry(place, length, bytes)
.end
#endm

; statistics_received()
;   Counts a received datagram.
#macro statistics_received()
    sram[incr, --, ip_counters, IP_RECEIVED]
#endm

; statistics_forwarded()
;   Counts a forwarded datagram.
#macro statistics_forwarded()
    sram[incr, --, ip_counters, IP_FORWARDED]
#endm

#endif
