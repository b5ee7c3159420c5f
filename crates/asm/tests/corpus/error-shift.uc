; error constant-range 2
alu_shf[a0, --, B, b1, <<32]
