; a, b -> the products of all widths, and of 32 by 16 bits.

#include "fixed.uc"

#macro test_case()
.begin
    .reg a b low high half
    alu[a, --, B, $$i0]
    alu[b, --, B, $$i1]
    multiply_16x16(low, a, b)
    alu[$$o0, --, B, low]
    multiply_32x32(high, low, a, b)
    alu[$$o1, --, B, high]
    alu[$$o2, --, B, low]
    ld_field_w_clr[half, 0011, $$i1]
    multiply_32x32(high, low, a, half)
    alu[$$o3, --, B, high]
    alu[$$o4, --, B, low]
    immed[$$o5, 0]
    immed[$$o6, 0]
    immed[$$o7, 0]
.end
#endm

#include "loop.uc"
