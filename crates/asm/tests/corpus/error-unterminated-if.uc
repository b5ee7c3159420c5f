; error unterminated-conditional 2
#if (1)
nop
