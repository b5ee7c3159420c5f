; good
mul_step[a1, b2], 24x8_start
mul_step[a1, b2], 24x8_step1
mul_step[a3, --], 24x8_last
ctx_arb[kill]
