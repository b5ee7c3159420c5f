; good
cam_lookup[a1, b2], lm_addr0[2]
cam_lookup[a1, b2], lm_addr1[0]
ctx_arb[kill]
