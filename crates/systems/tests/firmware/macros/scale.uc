; high, low, shift, limit -> what scale_down and least make of them.

#include "fixed.uc"

#macro test_case()
.begin
    .reg low high value shift limit
    alu[high, --, B, $$i0]
    alu[low, --, B, $$i1]
    alu[shift, --, B, $$i2]
    alu[limit, --, B, $$i3]
    scale_down(value, high, low, shift)
    alu[$$o0, --, B, value]
    least(value, limit)
    alu[$$o1, --, B, value]
    alu[value, --, B, $$i1]
    least(value, $$i3)
    alu[$$o2, --, B, value]
    immed[$$o3, 0]
    immed[$$o4, 0]
    immed[$$o5, 0]
    immed[$$o6, 0]
    immed[$$o7, 0]
.end
#endm

#include "loop.uc"
