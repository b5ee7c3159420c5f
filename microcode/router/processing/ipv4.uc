; IPv4: the checks of RFC 1812, the next hop, and the changes made in forwarding.

#ifndef IPV4_UC
#define IPV4_UC

; Flags of a next hop's first longword.
#define NEXT_HOP_LOCAL_BIT   8
#define NEXT_HOP_DISCARD_BIT 9

; ipv4_check(length, total, source, destination, verdict)
;   Checks the header in $$h3 to $$h8 of a frame of `length` bytes. If it may be
;   forwarded, continues with total <- its total length, source and destination <-
;   its addresses; branches to drop# or exception# otherwise.
#macro ipv4_check(length, total, source, destination, verdict)
.begin
    .reg payload sum upper top

    ; 5.2.2: version, header length, total length, checksum.
    br!=byte[$$h3, 1, 0x45, unusual#]
    alu_shf[total, --, B, $$h4, >>16]
    alu[payload, length, -, 14]
    alu[--, payload, -, total]
    blo[drop#], defer[1]
    immed[verdict, DROP_LENGTH]
    alu[--, total, -, 20]
    blo[drop#]
    checksum_ipv4(sum, $$h3, $$h4, $$h5, $$h6, $$h7, $$h8)
summed#:
    alu[--, sum, XOR, ones]
    bne[drop#], defer[1]
    immed[verdict, DROP_CHECKSUM]

    ; 5.3.7: addresses that are never forwarded.
    alu_shf[upper, --, B, $$h6, <<16]
    alu_shf[source, upper, OR, $$h7, >>16]
    alu_shf[upper, --, B, $$h7, <<16]
    alu_shf[destination, upper, OR, $$h8, >>16]
    alu_shf[top, --, B, source, >>24]
    beq[drop#], defer[1]
    immed[verdict, DROP_MARTIAN]
    alu[--, top, -, 127]
    beq[drop#]
    alu[--, top, -, 224]
    bhs[drop#]
    alu_shf[top, --, B, destination, >>24]
    beq[drop#]
    alu[--, top, -, 127]
    beq[drop#]
    alu[--, top, -, 224]
    blo[fine#]

    ; 224.0.0.0/4 and the limited broadcast go to the slow path, the rest of
    ; 240.0.0.0/4 is reserved.
    alu[--, top, -, 240]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_MULTICAST]
    alu[sum, --, ~B, destination]
    bne[drop#], defer[1]
    immed[verdict, DROP_MARTIAN]
    br[exception#], defer[1]
    immed[verdict, EXCEPTION_MULTICAST]

unusual#:
    ; Another version, a header that is too short, or options.
    alu_shf[top, 0xf, AND, $$h3, >>12]
    alu[--, top, -, 4]
    bne[drop#], defer[1]
    immed[verdict, DROP_VERSION]
    alu_shf[top, 0xf, AND, $$h3, >>8]
    alu[--, top, -, 5]
    blo[drop#], defer[1]
    immed[verdict, DROP_LENGTH]
    extension_options(length, total, sum, verdict, summed#)
fine#:
.end
#endm

; ipv4_next_hop(hop, total, port_out, verdict)
;   Reads the next hop `hop`. If a packet of `total` bytes may be sent to it, continues
;   with port_out <- its port and with its entry in $hop0 to $hop3; branches to drop#
;   or exception# otherwise. A destination that is the router's own address is local
;   regardless of the time to live.
#macro ipv4_next_hop(hop, total, port_out, verdict)
.begin
    .reg place left mtu
    alu[--, --, B, hop]
    beq[exception#], defer[1]
    immed[verdict, EXCEPTION_NO_ROUTE]
    alu_shf[place, --, B, hop, <<4]
    sram[read, $hop0, next_hops, place, 4], ctx_swap[fetched]
    br_bset[$hop0, NEXT_HOP_LOCAL_BIT, exception#], defer[1]
    immed[verdict, EXCEPTION_LOCAL]
    br_bset[$hop0, NEXT_HOP_DISCARD_BIT, drop#], defer[1]
    immed[verdict, DROP_DISCARD]
    alu_shf[left, 0xff, AND, $$h5, >>8]
    alu[--, left, -, 2]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_TTL]
    alu_shf[mtu, --, B, $hop0, >>16]
    alu[--, mtu, -, total]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_MTU]
    alu[port_out, $hop0, AND, 0xff]
    load_constant(place, PORT_STATE)
    alu_shf[left, --, B, port_out, <<2]
    extension_port_state(place, left, port_out)
    alu[--, --, B, $entry]
    beq[drop#], defer[1]
    immed[verdict, DROP_PORT_DOWN]
.end
#endm

; ipv4_rewrite(step)
;   Writes what forwarding changes to $$o2 to $$o7: frame longwords 2 to 7 with the
;   lower part of the new source address, the TTL and the checksum. The transmit stage
;   writes the rest of the Ethernet header. `step` is a register with the amount by
;   which the sum over the header grows: 0xfeff if only the TTL changes.
#macro ipv4_rewrite(step)
.begin
    .reg one
    alu[$$o2, --, B, $hop3]
    alu[$$o3, --, B, $$h3]
    alu[$$o4, --, B, $$h4]
    immed[one, 0x100]
    alu[$$o5, $$h5, -, one]
    checksum_ttl_step($$o6, $$h6, ones, step)
    alu[$$o7, --, B, $$h7]
.end
#endm

#endif
