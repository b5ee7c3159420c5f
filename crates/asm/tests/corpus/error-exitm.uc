; error unmatched-directive 2
#exitm
nop
