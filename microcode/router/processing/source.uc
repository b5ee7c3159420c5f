; Source address validation (RFC 1812 5.3.8, in the loose form of RFC 3704): a
; packet is dropped if no route leads to its source, or if the route to its source
; is a discarding one (RFC 5635).

#ifndef SOURCE_UC
#define SOURCE_UC

; 0 accepts packets from any source.
#ifndef SOURCE_VALIDATION
#define SOURCE_VALIDATION 1
#endif

; source_check(source, verdict)
;   Continues if packets could be sent to `source`; branches to drop# otherwise.
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
