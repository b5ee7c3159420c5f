; good
hash_48[$0, 3], ctx_swap[s2]
hash_64[$0, 2], ctx_swap[s2]
hash_128[$0, 1], ctx_swap[s2]
ctx_arb[kill]
