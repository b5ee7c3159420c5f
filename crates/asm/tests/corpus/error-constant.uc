; error constant-range 2
alu[a0, a1, +, 256]
