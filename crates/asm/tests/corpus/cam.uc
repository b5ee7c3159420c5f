; good
cam_clear
cam_lookup[a1, b2]
cam_write[a1, b2, 15]
cam_write_state[a1, 3]
cam_read_tag[b1, a1]
cam_read_state[b1, a1]
ctx_arb[kill]
