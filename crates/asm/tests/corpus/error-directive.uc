; error unsupported-directive 2
.reeg x
nop
