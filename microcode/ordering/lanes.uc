; Lanes: what is kept in order. Flows with the same addresses are always in one lane.

#ifndef ORDERING_LANES_UC
#define ORDERING_LANES_UC

; A power of two, at most 64.
#ifndef LANES
#define LANES 64
#endif

#if (LANES < 1 || LANES > 64 || (LANES & (LANES - 1)) != 0)
#error "LANES is a power of two, 1 to 64"
#endif

; lane_of(lane, source, destination)
;   lane <- the lane of packets between these addresses.
#macro lane_of(lane, source, destination)
.begin
    .reg mixed part
    alu[mixed, source, XOR, destination]
    alu_shf[part, --, B, mixed, >>16]
    alu[mixed, mixed, XOR, part]
    alu_shf[part, --, B, mixed, >>8]
    alu[mixed, mixed, XOR, part]
    alu[lane, mixed, AND, (LANES - 1)]
.end
#endm

#endif
