; error bank-conflict 2
alu[a0, a1, +, a2]
