-- What Neovim gets from the language server, as one line of JSON: the diagnostics of a source,
-- the hover of an instruction and where a macro in it is defined.
local published
local function told(_, result)
  if result.uri == vim.uri_from_fname(vim.env.NPSIM_SOURCE) then
    published = result.diagnostics
  end
end

vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.NPSIM_SOURCE))
vim.bo.filetype = 'uc'
local buffer = vim.api.nvim_get_current_buf()
local config = {
  name = 'npsim',
  cmd = { vim.env.NPSIM, 'lsp' },
  root_dir = vim.env.NPSIM_ROOT,
  init_options = { include = { 'microcode/lib' } },
  handlers = { ['textDocument/publishDiagnostics'] = told },
}
-- Versions before 0.8 attach in two steps.
if vim.lsp.start then
  vim.lsp.start(config)
else
  vim.lsp.buf_attach_client(buffer, vim.lsp.start_client(config))
end
vim.wait(60000, function() return published ~= nil end)

local function ask(method, text)
  local row, column = unpack(vim.fn.searchpos(text, 'nw'))
  local answers = vim.lsp.buf_request_sync(buffer, method, {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = row - 1, character = column - 1 },
  }, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local found = {
  diagnostics = published or 'none came',
  hover = ask('textDocument/hover', 'alu_shf') or 'none',
  definition = ask('textDocument/definition', 'receive_store') or 'none',
}
io.stdout:write(vim.fn.json_encode(found) .. '\n')
vim.cmd('qall!')
