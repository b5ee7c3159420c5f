.reg x
immed[x, 0]
.while (x < 10)
  .if (x == 3)
    alu[x, x, +, 2]
  .else
    alu[x, x, +, 1]
  .endif
.endw
halt
