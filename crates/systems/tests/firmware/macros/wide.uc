; high, low, amount high, amount low, shift -> sum, difference, shifted value.

#include "fixed.uc"

#macro test_case()
.begin
    .reg low high less shift over
    immed[shift, 0]
    alu[low, --, B, $$i1]
    alu[high, --, B, $$i0]
    add_64(low, high, $$i3, $$i2)
    alu[$$o2, shift, +carry, 0]
    alu[$$o0, --, B, high]
    alu[$$o1, --, B, low]
    alu[low, --, B, $$i1]
    alu[high, --, B, $$i0]
    subtract_64(low, high, $$i3, $$i2)
    alu[$$o3, --, B, high]
    alu[$$o4, --, B, low]
    alu[low, --, B, $$i1]
    alu[high, --, B, $$i0]
    alu[shift, --, B, $$i4]
    shift_right_64(less, high, low, shift)
    alu[$$o5, --, B, less]
    shift_right_64(low, over, high, low, shift)
    alu[$$o6, --, B, low]
    alu[$$o7, --, B, over]
.end
#endm

#include "loop.uc"
