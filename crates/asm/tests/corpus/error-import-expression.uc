; error import-value 3
.import_var N
immed[a0, (N * 3)]
