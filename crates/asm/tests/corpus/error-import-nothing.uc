; error syntax 2
.import_var
nop
