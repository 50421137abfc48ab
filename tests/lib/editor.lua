-- A session of neovim: the file is opened, fxexplain serve attached, the first action of the first finding applied, the file written; then
-- COMMAND runs, and what is left is waited for. For tests/cli/serve.t and tests/live/editor.t:
--     FILE=app/prints.py COMMAND='...' nvim --headless -u NONE -i NONE -n -l editor.lua, or -c 'luafile editor.lua' before 0.9
local out = io.open("editor.out", "w")
local function say(...) out:write(string.format(...), "\n") out:flush() end
local function main()
	vim.cmd("edit " .. os.getenv("FILE"))
	local client = vim.lsp.start_client({ cmd = { "fxexplain", "serve", "--root", "app", "traces" }, root_dir = vim.fn.getcwd() })
	vim.lsp.buf_attach_client(0, client)
	vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
	local found = vim.diagnostic.get(0)
	table.sort(found, function(a, b) return a.lnum < b.lnum end)
	for _, d in ipairs(found) do say("found %d %s", d.lnum + 1, (d.message:gsub("\n.*", ""))) end
	for i = 1, #found do
		local at = vim.diagnostic.get(0)
		table.sort(at, function(a, b) return a.lnum < b.lnum end)
		if not at[1] then break end
		vim.api.nvim_win_set_cursor(0, { at[1].lnum + 1, 0 })
		local asked = vim.lsp.util.make_range_params()
		asked.context = { diagnostics = {} }
		local answer = vim.lsp.buf_request_sync(0, "textDocument/codeAction", asked, 60000)
		local action = answer[client].result[1]
		if not action then break end
		say("action %s", action.title)
		vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
		local left = #at
		-- The last may be one that adds a line elsewhere: its finding stays until the program has run again.
		if i < #found then vim.wait(60000, function() return #vim.diagnostic.get(0) < left end, 50) end
	end
	vim.cmd("write")
	say("written")
	os.execute(os.getenv("COMMAND"))
	vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 50)
	say("left %d", #vim.diagnostic.get(0))
end
local fine, why = pcall(main)
if not fine then say("error %s", why) end
out:close()
vim.cmd("qall!")
