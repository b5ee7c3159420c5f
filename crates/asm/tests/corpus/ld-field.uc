; good
ld_field[a1, 0011, b2]
ld_field[b1, 1000, a2, <<24]
ld_field[a1, 1111, $1, >>rot8], load_cc
ctx_arb[kill]
