// Starts `fxexplain serve` (docs/user/EDITORS.md) for the workspace: findings are diagnostics, hovers and code actions. Nothing else is here.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function command(settings) {
    const root = settings.get("root");
    return { command: settings.get("fxexplain"), args: ["serve", ...(root ? ["--root", root] : []), ...settings.get("traces")] };
}

async function start() {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    client = new LanguageClient("pt2utils", "pt2utils", { ...command(vscode.workspace.getConfiguration("pt2utils")), options: { cwd: folder } },
        { documentSelector: [{ scheme: "file", language: "python" }] });
    try {
        await client.start();
    } catch (error) {
        client = undefined;
        vscode.window.showErrorMessage(`pt2utils: ${error.message ?? error}. Is fxexplain installed? The setting pt2utils.fxexplain says where.`);
    }
}

async function stop() {
    const old = client;
    client = undefined;
    await old?.stop();
}

// The file of the editor, with its traces where the server looks.
function run() {
    const file = vscode.window.activeTextEditor?.document.fileName;
    const settings = vscode.workspace.getConfiguration("pt2utils");
    if (!file)
        return;
    const terminal = vscode.window.createTerminal({ name: "pt2", env: { TORCH_TRACE: settings.get("traces")[0] } });
    const quoted = `'${file.replaceAll("'", `'\\''`)}'`;
    terminal.sendText(`${settings.get("pt2")} ${quoted}`);
    terminal.show();
}

async function activate(context) {
    context.subscriptions.push(vscode.commands.registerCommand("pt2utils.run", run), vscode.commands.registerCommand("pt2utils.restart", () => stop().then(start)),
        vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("pt2utils") && stop().then(start)));
    await start();
}

module.exports = { activate, deactivate: stop };
