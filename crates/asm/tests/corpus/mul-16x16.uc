; good
mul_step[a1, b2], 16x16_start
mul_step[a1, b2], 16x16_step1
mul_step[a1, b2], 16x16_step2
mul_step[b3, --], 16x16_last
ctx_arb[kill]
