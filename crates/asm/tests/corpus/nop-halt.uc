; good
nop
halt
