; good
.init_nn_mode self
alu[*n$index++, --, B, a0]
ctx_arb[kill]
