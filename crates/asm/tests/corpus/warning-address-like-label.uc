; good
; warning address-like-label 5

; An address has no mark; the label of that name is elsewhere.
br[L1]
br[L2]
L2#: nop
L1#: br[L1#]
