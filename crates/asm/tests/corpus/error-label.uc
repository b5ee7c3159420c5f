; error undefined-label 2
br[x#]
