; Source address validation (RFC 1812 5.3.8, in the loose form of RFC 3704): a
; packet whose source no route leads to is dropped, and one whose source is sent
; to nowhere by a discarding route (RFC 5635).

#ifndef SOURCE_UC
#define SOURCE_UC

; 0 takes packets from anywhere.
#ifndef SOURCE_VALIDATION
#define SOURCE_VALIDATION 1
#endif

; source_check(source, verdict)
;   Goes on when packets could go to `source`, to drop# otherwise.
#macro source_check(source, verdict)
#if (SOURCE_VALIDATION)
.begin
    .reg back place
    route_lookup(back, source, route_root, $entry, fetched)
    alu_shf[place, --, B, back, <<4]
    beq[drop#], defer[1]
    immed[verdict, DROP_SOURCE]
    sram[read, $hop0, next_hops, place, 1], ctx_swap[fetched]
    br_bset[$hop0, NEXT_HOP_DISCARD_BIT, drop#]
.end
#endif
#endm

#endif
