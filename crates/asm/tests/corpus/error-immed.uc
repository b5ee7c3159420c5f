; error constant-range 2
immed[a0, 0x12345678]
