; error unsupported-directive 9
; error unsupported-directive 10
; error unknown-instruction 11
; error unknown-instruction 12
; error unsupported-directive 13
; error unknown-instruction 14

; Directives with the mark of the others, or none.
.include "x.uc"
.define SIZE 4
else
endif
.for i [1, 2]
begin
ctx_arb[kill]
