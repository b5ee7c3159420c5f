; error user-error 2
#error "stop"
nop
