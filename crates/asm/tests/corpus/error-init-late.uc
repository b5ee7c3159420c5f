; error import-value 8
; error constant-range 9

; An import has no value yet, and what comes late is 32 bits long, too.
.import_var FAR
.reg x y
end#:
.init x (FAR >> 16)
.init y (-2 - (last# << 32))
alu[--, x, +, y]
last#: ctx_arb[kill]
