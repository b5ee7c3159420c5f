; good
top#: br_inp_state[nn_empty, top#]
br_!inp_state[SCR_Ring11_Status, top#]
br_inp_state[15, top#]
ctx_arb[kill]
