; error constant-range 2
.num_contexts 5
nop
