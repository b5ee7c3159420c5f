; error branch-in-defer 3
br[L0], defer[1]
br[L0]
