; good
.sig s
.set_sig s
top#: br_signal[s, top#]
br_!signal[s, top#]
br_signal[s3, top#]
ctx_arb[kill]
