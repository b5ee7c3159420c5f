#macro m(x)
  m(x x)
#endm
m(1)
