autocmd BufNewFile,BufRead *.uc setfiletype uc
