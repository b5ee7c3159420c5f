; good
pop_count1[a1]
pop_count2[a1]
pop_count3[b2, a1]
ctx_arb[kill]
