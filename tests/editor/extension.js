// The extension for VS Code with a stand-in for the editor: what it registers, what it launches, and its grammar.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');

const folder = path.join(__dirname, '../../editors/vscode');
const json = (name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
const { contributes, main } = json('package.json');

const registered = { commands: {}, tasks: [] };
const answers = ['128', 'iota:128 n=3'];
const vscode = {
    window: {
        activeTextEditor: { document: { languageId: 'kernc', uri: { fsPath: '/k.k' } } },
        showInputBox: async () => answers.shift(),
    },
    workspace: { getConfiguration: () => ({ get: (name) => contributes.configuration.properties[`kernc.${name}`].default }) },
    commands: { registerCommand: (name, run) => (registered.commands[name] = run) },
    debug: {
        registerDebugConfigurationProvider: (type, provider) => (registered.provider = provider),
        registerDebugAdapterDescriptorFactory: (type, factory) => (registered.factory = factory),
    },
    tasks: { executeTask: async (task) => registered.tasks.push(task) },
    TaskScope: {},
    Task: class { constructor(...parts) { this.execution = parts[4]; } },
    ProcessExecution: class { constructor(program, line) { Object.assign(this, { program, line }); } },
    DebugAdapterExecutable: class { constructor(program, line) { Object.assign(this, { program, line }); } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

async function extension() {
    const state = new Map();
    const workspaceState = { get: (key, other) => state.get(key) ?? other, update: async (key, value) => state.set(key, value) };
    require(path.join(folder, main)).activate({ subscriptions: [], workspaceState });
    assert.deepEqual(Object.keys(registered.commands).sort(), contributes.commands.map((one) => one.command).sort());
    assert.deepEqual({ ...registered.factory.createDebugAdapterDescriptor() }, { program: 'kernc', line: ['debug', '--dap'] });

    // Without a launch.json: the file of the editor, and what is asked for.
    const config = await registered.provider.resolveDebugConfiguration(undefined, {});
    const wanted = {
        type: 'kernc', request: 'launch', name: 'Debug kernel', stopOnEntry: true,
        program: '/k.k', processor: 'gfx906', grid: '128', args: ['iota:128'], options: ['--arg', 'n=3'],
    };
    assert.deepEqual(config, wanted);
    // What is there is left alone.
    const launch = { type: 'kernc', program: '/x.co', grid: 4 };
    assert.deepEqual(await registered.provider.resolveDebugConfiguration(undefined, { ...launch }), launch);

    answers.push('64', 'zeros:64 n=1');
    await registered.commands['kernc.run']();
    assert.deepEqual(
        registered.tasks.map((task) => task.execution.line.join(' ')),
        ['run --mcpu gfx906 --grid 64 --arg n=1 -- /k.k zeros:64'],
    );
}

/** Each attribute of a launch is one that the server takes, and that the page explains. */
function attributes() {
    const server = fs.readFileSync(path.join(__dirname, '../../tools/cli/src/run/debug/dap/launch.rs'), 'utf8');
    const page = fs.readFileSync(path.join(__dirname, '../../docs/editor.md'), 'utf8');
    const { properties } = contributes.debuggers[0].configurationAttributes.launch;
    assert.ok(Object.keys(properties).length > 10);
    for (const name of Object.keys(properties)) {
        assert.ok(server.includes(`"${name}"`), `the server does not know \`${name}\``);
        assert.ok(page.includes(`\`${name}\``), `docs/editor.md does not explain \`${name}\``);
    }
}

/** All files that are named are there, and all expressions of the grammar are some. */
function files() {
    const named = [...contributes.languages.map((one) => one.configuration), ...contributes.grammars.map((one) => one.path), ...contributes.snippets.map((one) => one.path)];
    for (const name of named) json(name);
    let count = 0;
    const look = (rule) => {
        for (const key of ['match', 'begin', 'end']) {
            if (rule[key] !== undefined) {
                new RegExp(rule[key]);
                count += 1;
            }
        }
        Object.values(rule).filter((part) => typeof part === 'object').forEach(look);
    };
    const grammar = json(contributes.grammars[0].path);
    look(grammar);
    assert.ok(count > 15);
    const numbers = new RegExp(`^(?:${grammar.repository.numbers.match})$`);
    for (const text of ['10', '1_000', '0xff', '0b101', '1.5', '1e-3', '10u64', '1.5f64']) assert.match(text, numbers);
}

extension()
    .then(attributes)
    .then(files)
    .then(
        () => console.log('whole'),
        (error) => {
            console.error(error);
            process.exit(1);
        },
    );
