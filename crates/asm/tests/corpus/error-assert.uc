; error assertion-failed 2
.assert (1 == 2) "no"
nop
