// Runs and debugs kernels. The debugger is `kernc debug --dap`; what is here finds it, and asks for what a launch needs.
'use strict';
const vscode = require('vscode');

const setting = (name) => vscode.workspace.getConfiguration('kernc').get(name);

/** The kernel file in the editor. */
function openFile() {
    const document = vscode.window.activeTextEditor?.document;
    return document?.languageId === 'kernc' ? document.uri.fsPath : undefined;
}

/** Asks for the grid and the arguments of a file; what was given the last time is proposed. */
async function ask(context, program) {
    const last = context.workspaceState.get(program, { grid: '64', args: '' });
    const grid = await vscode.window.showInputBox({ title: 'kernc', prompt: 'Work-items: X, X,Y or X,Y,Z', value: last.grid });
    if (!grid) return undefined;
    const prompt = 'Arguments, in order or NAME=VALUE: iota:64 n=10 a=2.5 zeros:64';
    const args = await vscode.window.showInputBox({ title: 'kernc', prompt, value: last.args });
    if (args === undefined) return undefined;
    await context.workspaceState.update(program, { grid, args });
    return { grid, args: args.split(/\s+/).filter((arg) => arg) };
}

/** Those of a list that are `NAME=VALUE`, and those that are not. */
function parted(args) {
    const named = args.filter((arg) => /^\w+=/.test(arg));
    return { named, positional: args.filter((arg) => !named.includes(arg)) };
}

/** A task that runs a kernel in the terminal. */
async function run(context) {
    const program = openFile();
    const asked = program && (await ask(context, program));
    if (!asked) return;
    const { named, positional } = parted(asked.args);
    const line = ['run', '--mcpu', setting('processor'), '--grid', asked.grid, ...named.flatMap((arg) => ['--arg', arg]), '--', program, ...positional];
    const task = new vscode.Task(
        { type: 'kernc' },
        vscode.TaskScope.Workspace,
        'run kernel',
        'kernc',
        new vscode.ProcessExecution(setting('path'), line),
    );
    await vscode.tasks.executeTask(task);
}

async function debug(context) {
    const program = openFile();
    if (program) await vscode.debug.startDebugging(undefined, { type: 'kernc', request: 'launch', name: 'Debug kernel', program, stopOnEntry: true });
}

/** The lane that variables are shown of, and that steps follow. */
async function lane() {
    const session = vscode.debug.activeDebugSession;
    const number = session && (await vscode.window.showInputBox({ title: 'kernc', prompt: 'Lane, or `any`', value: '0' }));
    if (!number) return;
    try {
        const answer = await session.customRequest('evaluate', { expression: `lane ${number}`, context: 'repl' });
        vscode.window.setStatusBarMessage(answer.result, 5000);
    } catch (error) {
        vscode.window.showErrorMessage(error.message);
    }
}

/** Fills in what a launch does not say. */
function resolver(context) {
    return {
        async resolveDebugConfiguration(_, launch) {
            // Without a launch.json there is nothing but the file.
            const config = launch.type ? launch : { type: 'kernc', request: 'launch', name: 'Debug kernel', stopOnEntry: true };
            config.program ??= openFile();
            if (!config.program) return undefined;
            if (config.program.endsWith('.k')) config.processor ??= setting('processor');
            if (config.grid === undefined) {
                const asked = await ask(context, config.program);
                if (!asked) return undefined;
                const { named, positional } = parted(asked.args);
                config.grid = asked.grid;
                config.args = positional;
                config.options = [...(config.options ?? []), ...named.flatMap((arg) => ['--arg', arg])];
            }
            return config;
        },
    };
}

const adapters = {
    createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(setting('path'), ['debug', '--dap']),
};

function activate(context) {
    context.subscriptions.push(
        vscode.commands.registerCommand('kernc.run', () => run(context)),
        vscode.commands.registerCommand('kernc.debug', () => debug(context)),
        vscode.commands.registerCommand('kernc.lane', lane),
        vscode.debug.registerDebugConfigurationProvider('kernc', resolver(context)),
        vscode.debug.registerDebugAdapterDescriptorFactory('kernc', adapters),
    );
}

module.exports = { activate };
