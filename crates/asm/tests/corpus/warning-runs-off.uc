; good
; warning runs-off-the-end 3
nop
