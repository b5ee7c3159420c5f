; error macro-arguments 5
#macro m(a)
nop
#endm
m(1, 2)
