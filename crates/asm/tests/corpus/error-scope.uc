; error unbalanced-scope 2
.begin
nop
