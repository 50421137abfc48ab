#!/bin/bash
# packaging/vscode: the extension is built and packed with npm, starts in a stand-in for VS Code, and the protocol's own client (its language client's) talks to
# the server. VS Code itself is not here.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v npm >/dev/null || skip_all "no npm"
cp -r "$ROOT/packaging/vscode" ext && cp "$ROOT/LICENSE" ext/ && cd ext || exit 4
rm -rf node_modules out.js ./*.vsix
timeout 500 npm install --no-audit --no-fund >npm.log 2>&1 || skip_all "npm has no packages: $(tail -1 npm.log)"
ok "packed" timeout 300 npm run package
is "what is in it" "$(unzip -Z1 ./*.vsix | grep ^extension/ | sort | paste -sd' ')" "extension/LICENSE.txt extension/out.js extension/package.json extension/readme.md"
# the extension in a stand-in: what it starts, and what it registers
cat >host.js <<'P'
const Module = require("node:module");
const settings = { traces: ["t.log"], root: "", fxexplain: "fxexplain", pt2: "pt2" }, commands = {}, said = [];
const anything = () => new Proxy(function () {}, { get: (t, k) => (k === Symbol.toPrimitive ? () => "" : k === "then" ? undefined : anything()), apply: () => anything(), construct: () => anything() });
const vscode = new Proxy({
    workspace: { workspaceFolders: [{ uri: { fsPath: process.cwd() } }], getConfiguration: () => ({ get: (k) => settings[k] }), onDidChangeConfiguration: () => ({ dispose() {} }) },
    commands: { registerCommand: (name, f) => ((commands[name] = f), { dispose() {} }) },
    window: { activeTextEditor: { document: { fileName: "/a b/it's.py" } }, createTerminal: (o) => ({ sendText: (t) => said.push(o.env.TORCH_TRACE + " " + t), show() {} }), showErrorMessage: (m) => said.push(m) },
}, { get: (t, k) => t[k] });
let started;
class LanguageClient { constructor(id, name, server) { this.server = server; } async start() { started = this.server; } async stop() { started = null; } }
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest));
const extension = require("./extension.js");
extension.activate({ subscriptions: [] }).then(async () => {
    console.log(started.command, ...started.args, Object.keys(commands).sort().join(","));
    commands["pt2utils.run"]();
    console.log(said.join("\n"));
    await extension.deactivate();
    console.log(started);
});
P
is "what it starts and offers" "$(node host.js)" "fxexplain serve t.log pt2utils.restart,pt2utils.run
t.log pt2 '/a b/it'\\''s.py'
null"
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" --wildcards '*prints/trace/*'
cp "$ROOT/tests/live/causes/prints.py" .
named=$(sed -n 's/.*"\([^"]*\/prints\.py\)".*/\1/p' prints/trace/* | head -1)
sed "s|$named|$PWD/prints.py|g" prints/trace/* >t.log
timeout 100 node try.js t.log prints.py >got.json 2>err
is "the protocol's client: diagnostics, an action, the end" "$(jq -c '[.server, .lines, (.actions | length), .code]' got.json)" '["fxexplain",[5,7],1,0]'
like "and a hover" "$(jq -r .hover got.json)" "Cost: 1 more graph"
done_testing
