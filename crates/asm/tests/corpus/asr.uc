; good
alu[--, b1, OR, 0]
asr[a1, b1, >>3]
alu[--, b1, OR, 0]
asr[a1, b1, >>indirect]
ctx_arb[kill]
