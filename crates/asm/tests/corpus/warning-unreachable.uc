; good
; warning unreachable-code 4
br[end#]
nop
nop
end#: ctx_arb[kill]
