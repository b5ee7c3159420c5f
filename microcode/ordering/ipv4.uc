; IPv4 forwarding of a packet that stands in DRAM, the same in all schemes: the checks
; of RFC 1812, the route, and what forwarding changes.

#ifndef ORDERING_IPV4_UC
#define ORDERING_IPV4_UC

#include "constant.uc"
#include "checksum.uc"
#include "route.uc"

; Frame longwords 0 to 9: Ethernet header, IPv4 header from the middle of 3.
.reg read $$h0 $$h1 $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.xfer_order $$h0 $$h1 $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.reg write $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.xfer_order $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.reg read $entry
.reg read $hop0 $hop1 $hop2 $hop3
.xfer_order $hop0 $hop1 $hop2 $hop3
.sig fetched

; ipv4_header(source, destination, buffer, length, verdict, drop)
;   Reads the headers of the frame of `length` bytes at `buffer` into $$h0 to $$h9 and
;   checks them: source and destination <- its addresses. Goes to drop# with a verdict
;   when it may not be forwarded.
#macro ipv4_header(source, destination, buffer, length, verdict, drop)
.begin
    .reg total payload sum upper top ones
    dram[read, $$h0, buffer, 0, 5], ctx_swap[fetched]
    br!=byte[$$h3, 3, 0x08, drop], defer[1]
    immed[verdict, DROP_NOT_IPV4]
    br!=byte[$$h3, 2, 0x00, drop]

    ; 5.2.2: version, header length, total length, checksum.
    br!=byte[$$h3, 1, 0x45, drop], defer[1]
    immed[verdict, DROP_HEADER]
    alu_shf[total, --, B, $$h4, >>16]
    alu[payload, length, -, 14]
    alu[--, payload, -, total]
    blo[drop]
    alu[--, total, -, 20]
    blo[drop]
    checksum_ipv4(sum, $$h3, $$h4, $$h5, $$h6, $$h7, $$h8)
    immed[ones, 0xffff]
    alu[--, sum, XOR, ones]
    bne[drop]

    ; 5.3.7: addresses that are never forwarded.
    alu_shf[upper, --, B, $$h6, <<16]
    alu_shf[source, upper, OR, $$h7, >>16]
    alu_shf[upper, --, B, $$h7, <<16]
    alu_shf[destination, upper, OR, $$h8, >>16]
    alu_shf[top, --, B, source, >>24]
    beq[drop], defer[1]
    immed[verdict, DROP_MARTIAN]
    alu[--, top, -, 127]
    beq[drop]
    alu[--, top, -, 224]
    bhs[drop]
    alu_shf[top, --, B, destination, >>24]
    beq[drop]
    alu[--, top, -, 127]
    beq[drop]
    alu[--, top, -, 224]
    bhs[drop]
.end
#endm

; ipv4_route(port_out, destination, buffer, verdict, drop)
;   Finds the next hop and writes the changed header back to `buffer`: port_out <- the
;   port by which the packet leaves. The packet is whole again when ipv4_written() has
;   been waited for. To drop# with a verdict without a route, or when
;   the time to live is over.
#macro ipv4_route(port_out, destination, buffer, verdict, drop)
.begin
    .reg hop table left one ones step
    load_constant(table, ROUTE_ROOT)
    route_lookup(hop, destination, table, $entry, fetched)
    alu[--, --, B, hop]
    beq[drop], defer[1]
    immed[verdict, DROP_NO_ROUTE]
    alu_shf[hop, --, B, hop, <<4]
    load_constant(table, NEXT_HOPS)
    sram[read, $hop0, table, hop, 4], ctx_swap[fetched]
    alu_shf[left, 0xff, AND, $$h5, >>8]
    alu[--, left, -, 2]
    blo[drop], defer[1]
    immed[verdict, DROP_TTL]
    alu[$$o0, --, B, $hop1]
    alu[$$o1, --, B, $hop2]
    alu[$$o2, --, B, $hop3]
    alu[$$o3, --, B, $$h3]
    alu[$$o4, --, B, $$h4]
    immed[one, 0x100]
    alu[$$o5, $$h5, -, one]
    immed[ones, 0xffff]
    immed[step, 0xfeff]
    checksum_ttl_step($$o6, $$h6, ones, step)
    alu[$$o7, --, B, $$h7]
    dram[write, $$o0, buffer, 0, 4], sig_done[fetched]
    alu[port_out, $hop0, AND, 0xff]
.end
#endm

; ipv4_written()
;   Waits until the header is back in DRAM.
#macro ipv4_written()
    ctx_arb[fetched]
#endm

; ipv4_forward(port_out, buffer, length, verdict, drop)
;   ipv4_header and ipv4_route, one after the other.
#macro ipv4_forward(port_out, buffer, length, verdict, drop)
.begin
    .reg source destination
    ipv4_header(source, destination, buffer, length, verdict, drop)
    ipv4_route(port_out, destination, buffer, verdict, drop)
.end
#endm

#endif
