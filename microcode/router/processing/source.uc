; Source address validation (RFC 1812 5.3.8, in the loose form of RFC 3704): a
; packet whose source no route leads to is dropped.

#ifndef SOURCE_UC
#define SOURCE_UC

; source_check(source, verdict)
;   Goes on when there is a route to `source`, to drop# otherwise.
#macro source_check(source, verdict)
.begin
    .reg back
    route_lookup(back, source, route_root, $entry, fetched)
    alu[--, --, B, back]
    beq[drop#], defer[1]
    immed[verdict, DROP_SOURCE]
.end
#endm

#endif
