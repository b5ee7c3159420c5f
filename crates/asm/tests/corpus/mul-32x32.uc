; good
mul_step[a1, b2], 32x32_start
mul_step[a1, b2], 32x32_step1
mul_step[a1, b2], 32x32_step2
mul_step[a1, b2], 32x32_step3
mul_step[a1, b2], 32x32_step4
mul_step[a3, --], 32x32_last
mul_step[a4, --], 32x32_last2
ctx_arb[kill]
