; error restricted-operand 2
alu_shf[a0, @a3, OR, b1, <<2]
