; error transfer-order 4
.reg $x $y
.xfer_order $x $y
.xfer_order $y $x
immed[$x, 0]
immed[$y, 0]
