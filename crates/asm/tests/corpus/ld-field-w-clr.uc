; good
ld_field_w_clr[b1, 1000, a2, <<24]
ld_field_w_clr[a4, 0001, 255]
ld_field_w_clr[a4, 0110b, $2, >>8]
ctx_arb[kill]
