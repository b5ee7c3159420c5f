; ipv4.uc: IPv4 forwarding of one packet that stands in DRAM.
#ifndef ORDERING_IPV4_UC
#define ORDERING_IPV4_UC
#include "constant.uc"
#include "checksum.uc"
#include "route.uc"

.reg read $$h0 $$h1 $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.xfer_order $$h0 $$h1 $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.reg write $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.xfer_order $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.reg read $entry
.reg read $hop0 $hop1 $hop2 $hop3
.xfer_order $hop0 $hop1 $hop2 $hop3
.sig fetched

#macro ipv4_forward(port_out, buffer, length, verdict, drop)
.begin
    .reg ones step total payload sum upper source destination top hop trie left one
    dram[read, $$h0, buffer, 0, 5], ctx_swap[fetched]
    alu_shf[total, --, B, $$h3, >>16]
    immed[one, 0x0800]
    alu[--, total, -, one]
    bne[drop], defer[1]
    immed[verdict, DROP_NOT_IPV4]
    br!=byte[$$h3, 1, 0x45, drop], defer[1]
    immed[verdict, DROP_HEADER]
    alu_shf[total, --, B, $$h4, >>16]
    alu[payload, length, -, 14]
    alu[--, payload, -, total]
    blo[drop]
    alu[--, total, -, 20]
    blo[drop]
    immed[ones, 0xffff]
    checksum_ipv4(sum, $$h3, $$h4, $$h5, $$h6, $$h7, $$h8)
    alu[--, sum, XOR, ones]
    bne[drop]
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
    load_constant(trie, ROUTE_ROOT)
    route_lookup(hop, destination, trie, $entry, fetched)
    alu[--, --, B, hop]
    beq[drop], defer[1]
    immed[verdict, DROP_NO_ROUTE]
    alu_shf[hop, --, B, hop, <<4]
    load_constant(trie, NEXT_HOPS)
    sram[read, $hop0, trie, hop, 4], ctx_swap[fetched]
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
    immed[step, 0xfeff]
    checksum_ttl_step($$o6, $$h6, ones, step)
    alu[$$o7, --, B, $$h7]
    dram[write, $$o0, buffer, 0, 4], ctx_swap[fetched]
    alu[port_out, $hop0, AND, 0xff]
.end
#endm
#endif
