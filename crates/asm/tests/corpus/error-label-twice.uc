; error label-twice 3
x#: nop
x#: br[x#]
