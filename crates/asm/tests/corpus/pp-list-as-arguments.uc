; good
; first-constant 2
#define TRIPLE 1, 2, 3
#define SECOND(x, y, z) y
#define PAIR a0, 0x1234
#define NESTED(list) SECOND(list)
#macro load(dest, value)
    immed[dest, value]
#endm
#macro outer(list)
    load(list)
#endm
    immed[a1, SECOND(TRIPLE)]
    load(PAIR)
    outer(PAIR)
    immed[a2, NESTED(TRIPLE)]
    ; A list that one parameter takes is not split.
#macro each(list)
    #for value [list]
    immed[a3, value]
    #endloop
#endm
    each(TRIPLE)
    ctx_arb[kill]
