; good
beq[top#], defer[3]
nop
nop
nop
top#: br[top#], defer[2]
nop
nop
