; Fixed-point arithmetic: products of longwords, shifts of two longwords.

#ifndef FIXED_UC
#define FIXED_UC

; multiply_16x16(product, a, b)
;   product <- a * b of the lower halves of a and b, in different banks.
#macro multiply_16x16(product, a, b)
    mul_step[a, b], 16x16_start
    mul_step[a, b], 16x16_step1
    mul_step[a, b], 16x16_step2
    mul_step[product, --], 16x16_last
#endm

; multiply_32x32(high, low, a, b)
;   high, low <- a * b, 64 bits. a and b in different banks.
#macro multiply_32x32(high, low, a, b)
    mul_step[a, b], 32x32_start
    mul_step[a, b], 32x32_step1
    mul_step[a, b], 32x32_step2
    mul_step[a, b], 32x32_step3
    mul_step[a, b], 32x32_step4
    mul_step[low, --], 32x32_last
    mul_step[high, --], 32x32_last2
#endm

; scale_down(value, high, low, shift)
;   value <- {high, low} >> shift, 0 to 63, as much as a longword holds:
;   0xffffffff if it is more. high and low in different banks.
#macro scale_down(value, high, low, shift)
.begin
    .reg over
    br_bset[shift, 5, far#]
    alu[--, shift, OR, 0]
    alu_shf[over, --, B, high, >>indirect]
    beq[near#]
    br[done#], defer[1]
    alu[value, --, ~B, 0]
near#:
    alu[--, shift, OR, 0]
    dbl_shf[value, high, low, >>indirect]
    br[done#]
far#:
    alu[--, shift, OR, 0]
    alu_shf[value, --, B, high, >>indirect]
done#:
.end
#endm

; least(value, limit)
;   value <- the smaller of both, unsigned.
#macro least(value, limit)
    alu[--, limit, -, value]
    bhs[least#]
    alu[value, --, B, limit]
least#:
#endm

#endif
