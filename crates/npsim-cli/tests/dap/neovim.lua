-- A debug session in Neovim: a client of `npsim dap` in its own Lua, over its own processes,
-- that shows the place of the run in a window, as debugger plug-ins do. Prints one line
-- of JSON: what the window and the adapter said at each stop.
local uv = vim.uv or vim.loop
local patience = 60000

local input, output = uv.new_pipe(false), uv.new_pipe(false)
local child, why = uv.spawn(vim.env.NPSIM, {
  args = { 'dap' },
  cwd = vim.env.NPSIM_ROOT,
  stdio = { input, output, nil },
}, function() end)
assert(child, why)

-- Messages as they come.
local answers, events, buffered = {}, {}, ''
local function take(message)
  if message.type == 'response' then
    answers[message.request_seq] = message
  else
    table.insert(events, message)
  end
end
output:read_start(function(_, chunk)
  buffered = buffered .. (chunk or '')
  while true do
    local _, head, length = buffered:find('^Content%-Length: (%d+)\r\n\r\n')
    if not head or #buffered < head + tonumber(length) then
      return
    end
    local text = buffered:sub(head + 1, head + length)
    buffered = buffered:sub(head + length + 1)
    vim.schedule(function() take(vim.fn.json_decode(text)) end)
  end
end)

local seq = 0
local function ask(command, arguments)
  seq = seq + 1
  local mine = seq
  local text = vim.fn.json_encode({
    seq = mine, type = 'request', command = command, arguments = arguments or vim.empty_dict(),
  })
  input:write(('Content-Length: %d\r\n\r\n%s'):format(#text, text))
  assert(vim.wait(patience, function() return answers[mine] ~= nil end), command .. ' is not answered')
  assert(answers[mine].success, vim.inspect(answers[mine]))
  return answers[mine].body
end

local function event(kind)
  local found
  assert(vim.wait(patience, function()
    while not found and #events > 0 do
      local first = table.remove(events, 1)
      found = first.event == kind and first
    end
    return found
  end), 'no ' .. kind)
  return found.body or {}
end

-- Puts the cursor at the place of the run; returns what is there.
local stops = {}
local function stopped()
  local stop = event('stopped')
  local frames = ask('stackTrace', { threadId = stop.threadId }).stackFrames
  local top = frames[1]
  vim.cmd('edit ' .. vim.fn.fnameescape(top.source.path))
  vim.api.nvim_win_set_cursor(0, { top.line, top.column - 1 })
  table.insert(stops, {
    reason = stop.reason,
    description = stop.description or '',
    file = vim.fn.expand('%:t'),
    shown = vim.trim(vim.api.nvim_get_current_line()),
    frames = vim.tbl_map(function(frame) return frame.line end, frames),
  })
  return stop.threadId, top.id
end

ask('initialize', { adapterID = 'npsim', linesStartAt1 = true, columnsStartAt1 = true })
ask('launch', {
  program = 'microcode/tutorial/wire8.uc',
  args = { '-I', 'microcode/lib', '--load', '0.5', '--time', '100us' },
  stopOnEntry = false,
})
event('initialized')

-- A breakpoint where the cursor is: in a macro of the library.
vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.NPSIM_ROOT .. '/microcode/lib/rbuf.uc'))
vim.fn.search('alu\\[override, bytes')
ask('setBreakpoints', {
  source = { path = vim.api.nvim_buf_get_name(0) },
  breakpoints = { { line = vim.fn.line('.') } },
})
ask('configurationDone')

local thread, frame = stopped()
local bytes = ask('evaluate', { expression = 'bytes', frameId = frame, context = 'hover' }).result
for _, command in ipairs({ 'next', 'stepBack', 'reverseContinue' }) do
  ask(command, { threadId = thread })
  thread = stopped()
end
ask('disconnect')

io.stdout:write(vim.fn.json_encode({ bytes = bytes, stops = stops }) .. '\n')
vim.cmd('qall!')
