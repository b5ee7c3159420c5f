; error function-argument 2
immed[a0, mask(3)]
