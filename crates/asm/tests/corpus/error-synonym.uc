; error syntax 2
.operand_synonym tag
nop
