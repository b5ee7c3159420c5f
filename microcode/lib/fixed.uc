; Arithmetic wider than a register.

#ifndef FIXED_UC
#define FIXED_UC

; multiply_16x16(product, a, b)
;   product <- a * b of the lower halves of a and b.
#macro multiply_16x16(product, a, b)
    mul_step[a, b], 16x16_start
    mul_step[a, b], 16x16_step1
    mul_step[a, b], 16x16_step2
    mul_step[product, --], 16x16_last
#endm

; multiply_32x32(high, low, a, b)
;   high, low <- the 64 bits of a * b, both without sign.
#macro multiply_32x32(high, low, a, b)
    mul_step[a, b], 32x32_start
    mul_step[a, b], 32x32_step1
    mul_step[a, b], 32x32_step2
    mul_step[a, b], 32x32_step3
    mul_step[a, b], 32x32_step4
    mul_step[low, --], 32x32_last
    mul_step[high, --], 32x32_last2
#endm

; add_64(low, high, amount_low, amount_high)
;   high, low <- high, low + amount_high, amount_low, modulo 2^64. The carry is that
;   of the sum afterwards.
#macro add_64(low, high, amount_low, amount_high)
    alu[low, low, +, amount_low]
    alu[high, high, +carry, amount_high]
#endm

; subtract_64(low, high, amount_low, amount_high)
;   high, low <- high, low - amount_high, amount_low, modulo 2^64. The carry is 0
;   afterwards when the amount was the larger.
#macro subtract_64(low, high, amount_low, amount_high)
    alu[low, low, -, amount_low]
    alu[high, high, -carry, amount_high]
#endm

; shift_right_64(result, high, low, shift)
;   result <- the lower longword of high, low shifted right by `shift`, a register
;   from 0 to 63: rounded down. `result` is none of the others.
#macro shift_right_64(result, high, low, shift)
    br_bset[shift, 5, done#], defer[2]
    alu[--, shift, OR, 0]
    alu_shf[result, --, B, high, >>indirect]    ; by shift mod 32
    alu[--, shift, OR, 0]
    dbl_shf[result, high, low, >>indirect]
done#:
#endm

; shift_right_64(result, over, high, low, shift)
;   The same, and over <- what of the shifted value does not fit `result`: 0 when it
;   does. `over` is none of the others, `result` may be `high` or `low`.
#macro shift_right_64(result, over, high, low, shift)
    br_bset[shift, 5, wide#], defer[2]
    alu[--, shift, OR, 0]
    alu_shf[over, --, B, high, >>indirect]      ; by shift mod 32
    br[done#], defer[2]
    alu[--, shift, OR, 0]
    dbl_shf[result, high, low, >>indirect]
wide#:
    alu[result, --, B, over]
    immed[over, 0]
done#:
#endm

; scale_down(value, high, low, shift)
;   value <- high, low shifted right by `shift`, a register from 0 to 63: rounded
;   down, 0xffffffff if it is more. `value` is none of the others.
#macro scale_down(value, high, low, shift)
    br_bset[shift, 5, wide#], defer[2]
    alu[--, shift, OR, 0]
    alu_shf[value, --, B, high, >>indirect]     ; by shift mod 32
    beq[narrow#], defer[2]
    alu[--, shift, OR, 0]
    dbl_shf[value, high, low, >>indirect]
    alu[value, --, ~B, 0]
narrow#:
wide#:
#endm

; least(value, limit)
;   value <- the smaller of both, without sign.
#macro least(value, limit)
    alu[--, limit, -, value]
    bhs[least#]
    alu[value, --, B, limit]
least#:
#endm

#endif
