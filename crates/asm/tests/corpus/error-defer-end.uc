; error defer-past-end 3
nop
br[L0], defer[1]
