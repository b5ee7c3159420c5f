; error defer-too-large 2
br[L0], defer[3]
nop
nop
nop
