; error undefined-register 9
; error import-value 10
; error constant-range 11
; error constant-range 12

; Memory has its first values elsewhere, and an import has none yet.
.import_var FAR
.reg x y z
.init TABLE+8 (1 + 2)
.init x (FAR >> 16)
.init y (end# << 32)
.init z 0x100000000
nop
end#: alu[--, x, +, y]
alu[--, z, +, 1]
ctx_arb[kill]
