#macro m(x)
  nop ; x
  m(x)
#endm
m(1)
