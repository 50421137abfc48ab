// The protocol's own client (vscode-languageserver-protocol) talks to `fxexplain serve`: node try.js TRACE PROGRAM. Prints what it got as JSON.
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-languageserver-protocol/node");
const [trace, program] = process.argv.slice(2);
const uri = pathToFileURL(fs.realpathSync(program)).href;
const server = spawn("fxexplain", ["serve", trace], { stdio: ["pipe", "pipe", "inherit"] });
const connection = rpc.createProtocolConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));

async function main() {
    const found = new Promise((resolve) => connection.onNotification(rpc.PublishDiagnosticsNotification.type, (p) => p.uri === uri && p.diagnostics.length && resolve(p.diagnostics)));
    connection.listen();
    const about = await connection.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} });
    await connection.sendNotification(rpc.InitializedNotification.type, {});
    const text = fs.readFileSync(program, "utf8");
    await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: "python", version: 1, text } });
    const diagnostics = await found;
    const at = diagnostics.at(-1).range;
    const hover = await connection.sendRequest(rpc.HoverRequest.type, { textDocument: { uri }, position: at.start });
    const actions = await connection.sendRequest(rpc.CodeActionRequest.type, { textDocument: { uri }, range: at, context: { diagnostics } });
    await connection.sendRequest(rpc.ShutdownRequest.type);
    await connection.sendNotification(rpc.ExitNotification.type);
    server.on("exit", (code) => console.log(JSON.stringify({
        server: about.serverInfo.name, lines: diagnostics.map((d) => d.range.start.line), hover: hover.contents.value, actions: actions.map((a) => a.title), code,
    })));
}

main().catch((error) => { console.error(error); process.exit(1); });
