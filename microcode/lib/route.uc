; Longest-prefix match in SRAM: a trie of strides 16, 8, 8.
;
; An entry is 0 (no route), a next-hop index (1 and up), or, with bit 31 set,
; the byte offset of a 256-entry block from the root.

#ifndef ROUTE_UC
#define ROUTE_UC

; route_lookup(hop, address, root, $entry, done)
;   hop <- next-hop index for an IPv4 address, 0 without a route. `root` is a
;   register that holds ROUTE_ROOT. At most three dependent reads.
#macro route_lookup(hop, address, root, entry, done)
.begin
    .reg place block
    alu_shf[place, --, B, address, >>16]
    alu_shf[place, --, B, place, <<2]
    sram[read, entry, root, place, 1], ctx_swap[done]
    br_bclr[entry, 31, leaf#]

    alu_shf[block, entry, AND~, 1, <<31]
    alu_shf[place, 0xff, AND, address, >>8]
    alu_shf[place, block, OR, place, <<2]
    sram[read, entry, root, place, 1], ctx_swap[done]
    br_bclr[entry, 31, leaf#]

    alu_shf[block, entry, AND~, 1, <<31]
    alu[place, address, AND, 0xff]
    alu_shf[place, block, OR, place, <<2]
    sram[read, entry, root, place, 1], ctx_swap[done]
leaf#:
    alu[hop, --, B, entry]
.end
#endm

#endif
