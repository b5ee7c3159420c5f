; error bank-conflict 7
.reg x y z
immed[x, 1]
immed[y, 1]
immed[z, 1]
alu[--, x, +, y]
alu[--, y, +, z]
alu[--, z, +, x]
ctx_arb[kill]
