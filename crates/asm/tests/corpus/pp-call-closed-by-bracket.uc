; good
; warning unexpected-bracket 6
#macro load(dest, value)
    immed[dest, value]
#endm
again#: load(a0, (1 + 2)]
    br[again#]
