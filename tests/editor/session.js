// Sessions with `kernc debug --dap`, and what has to come of each: `node session.js KERNC SESSION FOLDER`.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { client } = require('./client.js');

const [kernc, chosen, folder] = process.argv.slice(2);

/** Sends a request that leads to a stop; the event's body and the innermost frame. */
async function stopped(dc, request) {
    const [event] = await Promise.all([dc.waitForEvent('stopped'), request()]);
    const { stackFrames } = (await dc.stackTraceRequest({ threadId: event.body.threadId })).body;
    return { ...event.body, frames: stackFrames, line: stackFrames[0].line };
}

/** Launches; `configure` sets breakpoints. */
function launch(dc, program, more = {}, configure = async () => {}) {
    const configured = dc.waitForEvent('initialized').then(() => configure()).then(() => dc.configurationDoneRequest());
    return Promise.all([configured, dc.launch({ program, processor: 'gfx906', grid: 64, ...more })]);
}

const variables = async (dc, variablesReference, more = {}) =>
    (await dc.variablesRequest({ variablesReference, ...more })).body.variables;

/** The scopes of the innermost frame, by their names. */
async function scopes(dc, stop) {
    const { body } = await dc.scopesRequest({ frameId: stop.frames[0].id });
    return Object.fromEntries(body.scopes.map((scope) => [scope.name, scope.variablesReference]));
}

const values = (list) => Object.fromEntries(list.map((one) => [one.name, one.value]));
const evaluate = async (dc, expression, context = 'watch', more = {}) =>
    (await dc.evaluateRequest({ expression, context, ...more })).body.result;

/** All that is written to a category till the end. */
function output(dc, category) {
    const texts = [];
    dc.on('output', (event) => event.body.category === category && texts.push(event.body.output));
    return () => texts.join('');
}

async function leave(dc, code = 0) {
    await dc.disconnectRequest();
    assert.equal(await dc.exited, code);
}

/** Writes a source into the test's folder. */
function source(name, text) {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text);
    return file;
}

const SUMS = 'sums.cl';
const N = 3;
/** `sum` of docs/debugger.md's kernel before turn `j`. */
const sum = (i, j) => 3 * i + N + (i % 3 < j ? 100 : 0);

const sessions = {
    // A breakpoint with a condition, variables, lanes, a watchpoint, the way back: the session of docs/editor.md.
    async documented() {
        const dc = client(kernc, { cwd: folder });
        let breakpoint;
        const stop = await stopped(dc, () =>
            launch(dc, 'sums.co', { args: ['zeros:64', N], processor: undefined }, async () => {
                const asked = { source: { path: SUMS }, breakpoints: [{ line: 11, condition: 'j == 1' }] };
                breakpoint = (await dc.setBreakpointsRequest(asked)).body.breakpoints[0];
            }),
        );
        assert.ok(breakpoint.verified);
        assert.equal(breakpoint.line, 11);
        assert.equal(stop.reason, 'breakpoint');
        assert.deepEqual(stop.hitBreakpointIds, [breakpoint.id]);
        assert.equal(stop.line, 11);
        assert.equal(stop.frames[0].name, 'sums');
        assert.equal(stop.frames[0].source.path, path.join(fs.realpathSync(folder), SUMS));

        const { Locals, Lanes } = await scopes(dc, stop);
        const locals = await variables(dc, Locals);
        assert.deepEqual(
            { ...values(locals), out: undefined },
            { j: '1', out: undefined, n: '3', i: '0', s: '{a: 0, b: [0.5, 0.0, 2.0]}', sum: '103' },
        );
        const s = locals.find((one) => one.name === 's');
        const fields = await variables(dc, s.variablesReference);
        assert.deepEqual(values(fields), { a: '0', b: '[0.5, 0.0, 2.0]' });
        const b = fields.find((one) => one.name === 'b');
        assert.equal(b.indexedVariables, 3);
        assert.deepEqual(values(await variables(dc, b.variablesReference)), { '[0]': '0.5', '[1]': '0.0', '[2]': '2.0' });

        const across = (await variables(dc, Lanes)).find((one) => one.name === 'sum');
        const lanes = await variables(dc, across.variablesReference);
        assert.deepEqual(lanes.map((one) => Number(one.value)), Array.from({ length: 64 }, (_, i) => sum(i, 1)));

        const info = (await dc.dataBreakpointInfoRequest({ variablesReference: b.variablesReference, name: '[0]' })).body;
        assert.equal(info.description, 's.b[0], 4 bytes');
        await dc.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
        const changed = await stopped(dc, () => dc.continueRequest({ threadId: stop.threadId }));
        assert.equal(changed.reason, 'data breakpoint');
        assert.match(changed.description, /was 0\.5, and is 1\.5, by group \(0, 0, 0\) wave 0 at sums\.cl:12/);
        assert.equal(await evaluate(dc, 's.b[0]'), '1.5');

        const back = await stopped(dc, () => dc.reverseContinueRequest({ threadId: stop.threadId }));
        assert.equal(back.reason, 'breakpoint');
        assert.equal(back.line, 11);
        assert.equal(await evaluate(dc, 's.b[0]'), '0.5');
        await leave(dc);
        return dc.transcript;
    },

    // A breakpoint in a file that the kernel's file uses: the frames are of the right files.
    async files() {
        const dc = client(kernc);
        const used = path.join(__dirname, '../golden/debug/used.k');
        const square = path.join(__dirname, '../data/run/used/square.k');
        const stop = await stopped(dc, () =>
            launch(dc, used, { args: ['zeros:4'], grid: 4 }, () =>
                dc.setBreakpointsRequest({ source: { path: square }, breakpoints: [{ line: 3 }] }),
            ),
        );
        assert.equal(stop.reason, 'breakpoint');
        const places = stop.frames.map((frame) => [frame.name, fs.realpathSync(frame.source.path), frame.line]);
        assert.deepEqual(places, [['square (inlined)', square, 3], ['t', used, 9]].map(([name, file, line]) => [name, fs.realpathSync(file), line]));
        await leave(dc);
    },

    // Values are set: variables, parts of them, for other lanes; and stay set on the way back and forth.
    async set() {
        const dc = client(kernc, { cwd: folder });
        const stop = await stopped(dc, () =>
            launch(dc, 'sums.co', { args: ['zeros:64', N], processor: undefined }, () =>
                dc.setBreakpointsRequest({ source: { path: SUMS }, breakpoints: [{ line: 11 }] }),
            ),
        );
        const set = async (variablesReference, name, value) =>
            (await dc.customRequest('setVariable', { variablesReference, name, value })).body.value;
        const { Locals, Lanes } = await scopes(dc, stop);
        assert.equal(await set(Locals, 'sum', '1000'), '1000');
        assert.equal(await evaluate(dc, 'sum'), '1000');
        const s = (await variables(dc, Locals)).find((one) => one.name === 's');
        const b = (await variables(dc, s.variablesReference)).find((one) => one.name === 'b');
        assert.equal(await set(b.variablesReference, '[2]', '7.5'), '7.5');
        assert.equal(await evaluate(dc, 's'), '{a: 0, b: [0.5, 0.0, 7.5]}');
        const across = (await variables(dc, Lanes)).find((one) => one.name === 'sum');
        assert.equal(await set(across.variablesReference, 'lane 4', '-4'), '-4');
        const lanes = await variables(dc, across.variablesReference);
        assert.deepEqual(lanes.slice(0, 6).map((one) => Number(one.value)), [1000, ...[1, 2, 3].map((i) => sum(i, 0)), -4, sum(5, 0)]);
        const expression = { expression: 's.a', value: '0x12c', frameId: stop.frames[0].id };
        assert.equal((await dc.customRequest('setExpression', expression)).body.value, '300');
        await assert.rejects(set(Locals, 's', '1'), /a value of several parts is set part by part/);
        await assert.rejects(set(Locals, 'sum', 'much'), /`much` is no value of int/);
        await assert.rejects(set(Locals, 'sum', '4294967296'), /`4294967296` is no value of int/);
        assert.equal(await evaluate(dc, 'set sum = 1001', 'repl'), '');
        assert.equal(await evaluate(dc, 'sum'), '1001');

        await stopped(dc, () => dc.continueRequest({ threadId: stop.threadId }));
        assert.equal(await evaluate(dc, 'sum'), '1101');
        await stopped(dc, () => dc.reverseContinueRequest({ threadId: stop.threadId }));
        assert.equal(await evaluate(dc, 'sum'), '1001');
        await stopped(dc, () => dc.continueRequest({ threadId: stop.threadId }));
        assert.equal(await evaluate(dc, 'sum'), '1101');
        await leave(dc);
    },

    // Values: hovers, pointers, registers, private memory, memory, and what has none.
    async values() {
        const dc = client(kernc, { cwd: folder });
        const stop = await stopped(dc, () =>
            launch(dc, 'sums.co', { args: ['zeros:64', N], processor: undefined }, () =>
                dc.setBreakpointsRequest({ source: { path: SUMS }, breakpoints: [{ line: 14 }] }),
            ),
        );
        assert.equal(await evaluate(dc, 's.b[2]', 'hover'), '2.0');
        assert.equal(await evaluate(dc, '$exec'), '0xffffffffffffffff');
        await assert.rejects(evaluate(dc, 'nothing'), /nothing is called `nothing` here/);
        await assert.rejects(evaluate(dc, 's.'), /a field is missing/);

        const { body } = await dc.evaluateRequest({ expression: 'out', context: 'watch' });
        const [target] = await variables(dc, body.variablesReference);
        assert.equal(target.name, '*out');
        assert.equal(target.value, '0');
        const memory = (await dc.customRequest('readMemory', { memoryReference: target.memoryReference, count: 8 })).body;
        assert.deepEqual([...Buffer.from(memory.data, 'base64')], [0, 0, 0, 0, 0, 0, 0, 0]);
        const beyond = (await dc.customRequest('readMemory', { memoryReference: target.memoryReference, offset: 256, count: 4096 })).body;
        assert.ok(beyond.unreadableBytes > 0);

        const all = await scopes(dc, stop);
        assert.deepEqual(Object.keys(all), ['Locals', 'Lanes', 'Registers', 'Private memory']);
        const registers = await variables(dc, all.Registers);
        const vector = await variables(dc, registers.find((one) => one.name === 'vector').variablesReference);
        const v0 = await variables(dc, vector.find((one) => one.name === 'v0').variablesReference);
        assert.equal(v0.length, 64);
        assert.equal(v0[5].name, 'lane 5');
        const scalar = await variables(dc, registers.find((one) => one.name === 'scalar').variablesReference, { start: 4, count: 2 });
        assert.deepEqual(scalar.map((one) => one.name), ['s4', 's5']);
        const i = (await dc.evaluateRequest({ expression: 'i', context: 'watch' })).body;
        assert.match(i.memoryReference, /^private:0:0x/);
        // `i` of lane 7 is in lane 7's private memory, at the same place.
        const own = (await dc.customRequest('readMemory', { memoryReference: i.memoryReference.replace(':0:', ':7:'), count: 4 })).body;
        assert.equal(Buffer.from(own.data, 'base64').readInt32LE(), 7);
        const rows = await variables(dc, all['Private memory'], { start: 0, count: 4 });
        assert.deepEqual(rows.map((one) => one.name), ['0x0000', '0x0010', '0x0020', '0x0030']);

        // The lane that is followed, by a command of the terminal.
        assert.equal(await evaluate(dc, 'lane 9', 'repl'), 'lane 9, work-item (9, 0, 0), active');
        assert.equal(await evaluate(dc, 'i'), '9');
        assert.match(await evaluate(dc, 'lanes i', 'repl'), /^ +0 +0 +1 +2/);
        assert.match(await evaluate(dc, 'help', 'repl'), /reverse-continue/);
        assert.deepEqual(
            (await dc.completionsRequest({ text: 'reverse-s', column: 10 })).body.targets.map((one) => one.label),
            ['reverse-step', 'reverse-stepi'],
        );
        await leave(dc);
    },

    // A call of a clang kernel: into it, out of it, back.
    async steps() {
        const dc = client(kernc, { cwd: folder });
        const stop = await stopped(dc, () =>
            launch(dc, 'sums.co', { args: ['zeros:64', N], processor: undefined }, () =>
                dc.setBreakpointsRequest({ source: { path: SUMS }, breakpoints: [{ line: 9 }] }),
            ),
        );
        const threadId = stop.threadId;
        const inside = await stopped(dc, () => dc.stepInRequest({ threadId }));
        assert.deepEqual(inside.frames.map((frame) => frame.name), ['helper', 'sums']);
        assert.equal(inside.reason, 'step');
        assert.deepEqual(inside.frames.map((frame) => frame.line), [3, 9]);
        assert.equal((await scopes(dc, inside)).Locals > 0, true);
        // The caller, as it was at the call.
        const outer = { frameId: inside.frames[1].id };
        const { scopes: callers } = (await dc.scopesRequest(outer)).body;
        const { variables: held } = (await dc.variablesRequest({ variablesReference: callers[0].variablesReference })).body;
        assert.deepEqual(held.filter((one) => ['i', 'n'].includes(one.name)).map((one) => one.value), ['3', '0']);
        assert.equal(await evaluate(dc, 's.b[2]', 'watch', outer), '2.0');
        await assert.rejects(dc.evaluateRequest({ expression: 'x', context: 'watch', ...outer }), /x/);
        assert.match(await evaluate(dc, 'print i', 'repl', outer), /^0$/);
        assert.equal((await stopped(dc, () => dc.stepOutRequest({ threadId }))).frames[0].name, 'sums');
        await assert.rejects(dc.stepOutRequest({ threadId }), /nobody has called this/);
        const next = await stopped(dc, () => dc.nextRequest({ threadId }));
        assert.equal(next.line, 10);
        assert.equal((await stopped(dc, () => dc.stepBackRequest({ threadId }))).line, 9);
        const place = (stop) => Number(stop.frames[0].instructionPointerReference);
        const before = await stopped(dc, () => dc.nextRequest({ threadId, granularity: 'instruction' }));
        const after = await stopped(dc, () => dc.stepInRequest({ threadId, granularity: 'instruction' }));
        assert.ok(place(after) > place(before));
        assert.equal(place(await stopped(dc, () => dc.stepBackRequest({ threadId, granularity: 'instruction' }))), place(before));
        await leave(dc);
    },

    // Breakpoints of each kind, in a kernel that kernc has compiled.
    async breakpoints() {
        const dc = client(kernc);
        const calls = path.join(__dirname, '../golden/debug/calls.k');
        const logged = output(dc, 'console');
        let set;
        const stop = await stopped(dc, () =>
            launch(dc, calls, { args: ['iota:64', 'zeros:64'] }, async () => {
                set = (await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'inner' }, { name: 'nobody' }] })).body.breakpoints;
                await dc.setBreakpointsRequest({ source: { path: calls }, breakpoints: [{ line: 10, logMessage: 'exec is {$exec}' }] });
            }),
        );
        assert.deepEqual(set.map((one) => one.verified), [true, false]);
        assert.equal(set[1].message, 'no function is called `nobody`');
        assert.equal(stop.reason, 'function breakpoint');
        assert.deepEqual(stop.frames.map((frame) => frame.name), ['inner', 'outer', 't']);
        assert.match(logged(), /exec is 0xffffffffffffffff\n/);

        // What has no code is where its function goes on, which is told; in front of a function and after it there is none.
        const moved = await dc.setBreakpointsRequest({ source: { path: calls }, breakpoints: [3, 4, 7, 16, 18, 9999].map((line) => ({ line })) });
        assert.deepEqual(
            moved.body.breakpoints.map((one) => [one.verified, one.line]),
            [[false, undefined], [true, 5], [false, undefined], [true, 17], [false, undefined], [false, undefined]],
        );
        assert.match(moved.body.breakpoints[2].message, /no code belongs to line 7 .* `outer` begins in line 9/);
        const lines = await dc.customRequest('breakpointLocations', { source: { path: calls }, line: 8, endLine: 13 });
        assert.deepEqual(lines.body.breakpoints.map((one) => one.line), [9, 10, 11]);
        // The function is called twice: the second time only.
        await dc.setBreakpointsRequest({ source: { path: calls }, breakpoints: [] });
        await dc.setFunctionBreakpointsRequest({ breakpoints: [] });
        const wrong = await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'inner', hitCondition: 'often' }] });
        assert.equal(wrong.body.breakpoints[0].verified, false);

        const at = stop.frames[0].instructionPointerReference;
        const code = (await dc.disassembleRequest({ memoryReference: at, instructionOffset: -1, instructionCount: 5 })).body.instructions;
        assert.equal(code.length, 5);
        assert.equal(code[1].address, at);
        // The function begins with its prologue, which the breakpoint leaves out.
        const around = (await dc.disassembleRequest({ memoryReference: at, instructionOffset: -4, instructionCount: 5 })).body.instructions;
        assert.equal(around[4].address, at);
        assert.ok(around.slice(0, 4).some((one) => one.symbol === 'inner'));
        const reference = code[3].address;
        await dc.customRequest('setInstructionBreakpoints', { breakpoints: [{ instructionReference: code[1].address, offset: Number(reference) - Number(at) }] });
        const instruction = await stopped(dc, () => dc.continueRequest({ threadId: stop.threadId }));
        assert.equal(instruction.reason, 'instruction breakpoint');
        assert.equal(instruction.frames[0].instructionPointerReference, reference);
        await dc.customRequest('setInstructionBreakpoints', { breakpoints: [] });

        await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'inner', hitCondition: '1' }] });
        const second = await stopped(dc, () => dc.continueRequest({ threadId: stop.threadId }));
        assert.equal(second.frames[1].line, 11);
        await leave(dc);
    },

    // A condition or a log point that makes no sense leaves its breakpoint unverified, with the reason; one that has no value at the stop
    // stops there, and says why.
    async conditions() {
        const dc = client(kernc, { cwd: folder });
        const wrong = [
            ['i +', /an operand is missing after `\+`/],
            ['sun == 3', /nothing is called `sun` here: did you mean `sum`\?/],
            ['i = 2', /`==` compares/],
            ['s', /a value of type S is neither true nor false/],
            ['s.c == 1', /S has no field `c`/],
            ['(', /an operand is missing/],
            ['j == 99999999999999999999', /does not fit 64 bits/],
        ];
        let set, logs;
        const stop = await stopped(dc, () =>
            launch(dc, 'sums.co', { args: ['zeros:64', N], processor: undefined }, async () => {
                const all = [...wrong.map((one) => one[0]), 'i > 2 && j == 1 && !(i & 1)'];
                const breakpoints = all.map((condition) => ({ line: 11, condition }));
                set = (await dc.setBreakpointsRequest({ source: { path: SUMS }, breakpoints })).body.breakpoints;
                const logged = { name: 'helper', logMessage: 'x is {x} of {nosuch}' };
                logs = (await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'helper', condition: 'sum == 1' }, logged] })).body.breakpoints;
            }),
        );
        set.slice(0, -1).forEach((one, at) => {
            assert.equal(one.verified, false, wrong[at][0]);
            assert.match(one.message, wrong[at][1]);
        });
        assert.ok(set.at(-1).verified);
        assert.deepEqual(logs.map((one) => one.verified), [false, false]);
        assert.match(logs[0].message, /nothing is called `sum` here/);
        assert.match(logs[1].message, /`\{nosuch\}`: nothing is called `nosuch` here/);
        assert.deepEqual(stop.hitBreakpointIds, [set.at(-1).id]);
        assert.equal(await evaluate(dc, 'i'), '4');

        const failing = { source: { path: SUMS }, breakpoints: [{ line: 11, condition: '1 / (j - 2)' }] };
        await dc.setBreakpointsRequest(failing);
        const failed = await stopped(dc, () => dc.continueRequest({ threadId: stop.threadId }));
        assert.equal(failed.reason, 'breakpoint');
        assert.match(failed.description, /whose condition has no value here: division by zero/);
        assert.equal(failed.text, 'division by zero');
        assert.equal(await evaluate(dc, 'j'), '2');
        await leave(dc);
    },

    // The console evaluates expressions, and has the terminal's commands: for another wave and a work-item, too.
    async typed() {
        const program = path.join(__dirname, '../golden/debug/look.k');
        const dc = client(kernc);
        const stop = await stopped(dc, () =>
            launch(dc, program, { grid: 256, group: 128, args: ['iota:256', 'zeros:256'], optimization: 0 }, () =>
                dc.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 10 }] }),
            ),
        );
        const typed = (expression) => evaluate(dc, expression, 'repl');
        assert.equal(await typed('i * 2 + 1'), '1');
        assert.equal(await typed('out'), '0x6fffff000');
        assert.equal((await dc.evaluateRequest({ expression: 'out', context: 'watch' })).body.type, '*global u32');
        assert.equal(await typed('print/x i + 255'), '0xff');
        assert.equal(await typed('whatis i as f32'), 'type = f32');
        assert.match(await typed('x/2dw x + 4'), /^0x[0-9a-f]+: {2}4 {2}5$/);
        assert.match(await typed('info args'), /^x: \*global u32 = /);
        assert.match(await typed('item 70'), /^group \(0, 0, 0\) wave 1, 64 of 64 lanes, lane 6, work-item \(70, 0, 0\)/);
        assert.equal(await typed('$exec'), '0xffffffffffffffff');
        assert.match(await typed('wave'), /^group \(0, 0, 0\) wave 1/);
        assert.match(await typed('wave 0'), /^group \(0, 0, 0\) wave 0/);
        for (const [line, why] of [
            ['x/99999999x 0', /1 to 4096 can be shown at once/],
            ['item 9999', /there is no work-item \(9999, 0, 0\)/],
            ['print/q i', /there is no format `q`/],
            ['info nosuch', /there is no `info nosuch`: args, /],
            ['i +', /an operand is missing/],
            ['('.repeat(10000), /more than 256 parts/],
        ]) {
            await assert.rejects(typed(line), why);
        }
        await leave(dc);
    },

    // What strict mode finds is an exception, with the whole report; there is a way back from it.
    async strict() {
        const program = path.join(__dirname, '../golden/debug/found.k');
        let dc = client(kernc);
        const found = await stopped(dc, () => launch(dc, program, { grid: 128, args: ['zeros:128'] }));
        assert.equal(found.reason, 'exception');
        assert.equal(found.text, 'v0, which nothing has initialised, is stored to global memory');
        assert.equal(found.line, 8);
        const info = (await dc.exceptionInfoRequest({ threadId: found.threadId })).body;
        assert.equal(info.exceptionId, 'uninitialised-store');
        assert.match(info.details.message, /found\.k:8:\d+\n(.*\n)*.*out\[local_id\(0\)\] = tile/);
        const back = await stopped(dc, () => dc.stepBackRequest({ threadId: found.threadId }));
        assert.equal(back.reason, 'step');
        await assert.rejects(dc.exceptionInfoRequest({ threadId: found.threadId }), /nothing is wrong here/);
        await leave(dc);

        // Nobody wants to stop there: the dispatch ends with the report, and `kernc run`'s exit code.
        dc = client(kernc);
        const told = output(dc, 'stderr');
        const [exited] = await Promise.all([
            dc.waitForEvent('exited'),
            dc.waitForEvent('terminated'),
            launch(dc, program, { grid: 128, args: ['zeros:128'], stopOnExit: false }, () => dc.setExceptionBreakpointsRequest({ filters: [] })),
        ]);
        assert.equal(exited.body.exitCode, 6);
        assert.match(told(), /race\[race-write-after-read\].*\n.*found\.k:7:5/);
        await leave(dc);

        // Fast mode has nothing to find.
        dc = client(kernc);
        const [end] = await Promise.all([
            dc.waitForEvent('exited'),
            dc.waitForEvent('terminated'),
            launch(dc, program, { grid: 128, args: ['zeros:128'], strict: false, stopOnExit: false }),
        ]);
        assert.equal(end.body.exitCode, 0);
        await leave(dc);
    },

    // A fault is an exception, too.
    async fault() {
        const program = source('fault.k', 'kernel k(out: *global u32) {\n    out[global_id(0) * 1000] = 1;\n}\n');
        const dc = client(kernc);
        const stop = await stopped(dc, () => launch(dc, program, { args: ['zeros:64'] }));
        assert.equal(stop.reason, 'exception');
        assert.match(stop.text, /out\[1000\]/);
        assert.match((await dc.exceptionInfoRequest({ threadId: stop.threadId })).body.details.message, /fault\.k:2/);
        const [exited] = await Promise.all([dc.waitForEvent('exited'), dc.continueRequest({ threadId: stop.threadId })]);
        assert.equal(exited.body.exitCode, 4);
        await leave(dc);
    },

    // The end of the dispatch is a stop: what it has printed is there, values too, and there is a way back.
    async end() {
        const program = source('end.k', 'kernel k(out: *global u32) {\n    let i = global_id(0);\n    out[i] = i + 1;\n}\n');
        const more = { grid: 4, args: ['zeros:4'], print: ['out'] };
        const dc = client(kernc);
        const printed = output(dc, 'stdout');
        const stop = await stopped(dc, () => launch(dc, program, more));
        assert.equal(stop.reason, 'exit');
        assert.match(stop.description, /^the dispatch has ended: group \(0, 0, 0\) wave 0/);
        assert.equal(printed(), 'the dispatch has ended: 1 waves, 11 wave instructions\nout: 1, 2, 3, 4\n');
        const { threadId } = stop;
        assert.equal(await evaluate(dc, 'out[2]', 'watch', { frameId: stop.frames[0].id }), '3');
        await assert.rejects(dc.customRequest('setExpression', { expression: 'out[2]', value: '7' }), /a value is set in front of an instruction/);
        assert.match(await evaluate(dc, 'where', 'repl'), /^the dispatch has ended; its last instruction is this:/);
        const { dataId } = (await dc.dataBreakpointInfoRequest({ name: 'out[2]' })).body;
        await dc.setDataBreakpointsRequest({ breakpoints: [{ dataId, accessType: 'write' }] });
        const wrote = await stopped(dc, () => dc.reverseContinueRequest({ threadId }));
        assert.deepEqual([wrote.reason, wrote.line], ['breakpoint', 3]);
        await dc.setDataBreakpointsRequest({ breakpoints: [] });
        assert.equal((await stopped(dc, () => dc.continueRequest({ threadId }))).reason, 'exit');
        const back = await stopped(dc, () => dc.stepBackRequest({ threadId }));
        assert.deepEqual([back.reason, back.line], ['step', 3]);
        assert.equal(await evaluate(dc, 'out[2]', 'watch', { frameId: back.frames[0].id }), '0');
        assert.equal((await stopped(dc, () => dc.nextRequest({ threadId }))).reason, 'exit');
        const [exited] = await Promise.all([dc.waitForEvent('exited'), dc.waitForEvent('terminated'), dc.continueRequest({ threadId })]);
        assert.equal(exited.body.exitCode, 0);
        await leave(dc);

        // What is wrong is told where the dispatch has ended, once, and is the exit code.
        const differs = client(kernc);
        const told = output(differs, 'stderr');
        const wrong = await stopped(differs, () => launch(differs, program, { ...more, options: ['--expect', 'out=[1, 2, 3, 5]'] }));
        assert.equal(wrong.reason, 'exit');
        assert.match(told(), /out/);
        const once = told();
        const [code] = await Promise.all([differs.waitForEvent('exited'), differs.nextRequest({ threadId: wrong.threadId })]);
        assert.equal(code.body.exitCode, 7);
        assert.equal(told(), once);
        await leave(differs);

        // Who does not want that is not stopped.
        const brief = client(kernc);
        await Promise.all([brief.waitForEvent('terminated'), launch(brief, program, { ...more, stopOnExit: false })]);
        await leave(brief);
    },

    // Waves are threads, and lanes where that is asked for: who steps in one follows it.
    async threads() {
        const program = path.join(__dirname, '../golden/debug/steps.k');
        const dc = client(kernc);
        const stop = await stopped(dc, () =>
            launch(dc, program, { grid: 128, group: 64, args: ['iota:128', 'zeros:128', 40], lanesAsThreads: true }, () =>
                dc.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 10 }] }),
            ),
        );
        assert.equal(stop.line, 10);
        const { threads } = (await dc.threadsRequest()).body;
        assert.deepEqual(threads.slice(0, 2).map((one) => one.name), ['group (0, 0, 0) wave 0', 'lane 0, work-item (0, 0, 0)']);
        assert.equal(threads.filter((one) => one.name.endsWith(', waits')).length, 24);
        const lane50 = threads.find((one) => one.name.startsWith('lane 50,'));
        const follows = await stopped(dc, () => dc.nextRequest({ threadId: lane50.id }));
        assert.equal(follows.threadId, lane50.id);
        assert.equal(follows.line, 12);
        assert.equal(await evaluate(dc, '$v0', 'watch', { frameId: follows.frames[0].id }), await evaluate(dc, '$v0'));
        await leave(dc);
    },

    // A kernel that does not end is paused; breakpoints are set while it runs; then it is restarted, from a source that has changed.
    async restart() {
        const text = (bound) =>
            `kernel k(out: *global u32) {\n    let mut i: u32 = 0;\n    while i != ${bound} {\n        i = i + 2;\n        out[global_id(0)] = i;\n    }\n}\n`;
        const program = source('loop.k', text(3));
        const dc = client(kernc);
        await launch(dc, program, { args: ['zeros:64'], strict: false, stopOnExit: false, print: ['out'], options: ['--max-instructions', '100000000000'] });
        await assert.rejects(evaluate(dc, '$exec'), /the kernel runs/);
        assert.equal((await dc.threadsRequest()).body.threads.length, 1);
        const paused = await stopped(dc, () => dc.pauseRequest({ threadId: 128 }));
        assert.equal(paused.reason, 'pause');
        await dc.continueRequest({ threadId: paused.threadId });
        const [hit] = await Promise.all([
            dc.waitForEvent('stopped'),
            dc.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 5 }] }),
        ]);
        assert.equal(hit.body.reason, 'breakpoint');

        fs.writeFileSync(program, '// moved\n' + text(4));
        const [changed, again] = await Promise.all([dc.waitForEvent('breakpoint'), stopped(dc, () => dc.restartRequest({}))]);
        assert.deepEqual([changed.body.reason, changed.body.breakpoint.verified, changed.body.breakpoint.line], ['changed', true, 6]);
        assert.equal(again.line, 6);
        await dc.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
        const printed = output(dc, 'stdout');
        await Promise.all([dc.waitForEvent('terminated'), dc.continueRequest({ threadId: again.threadId })]);
        assert.match(printed(), /out: 4, 4, 4/);
        await assert.rejects(dc.continueRequest({ threadId: again.threadId }), /the dispatch has ended/);

        fs.writeFileSync(program, 'kernel k( {');
        await assert.rejects(dc.restartRequest({}), /error/);
        await leave(dc);
    },

    // What cannot be launched says why; the next one can be.
    async refusals() {
        const saxpy = path.join(__dirname, '../../examples/saxpy.k');
        const dc = client(kernc);
        await assert.rejects(dc.threadsRequest(), /the first request is `initialize`/);
        await dc.initializeRequest();
        await assert.rejects(dc.threadsRequest(), /nothing is launched yet/);
        await assert.rejects(dc.attachRequest({}), /there is no request `attach` here/);
        await assert.rejects(dc.customRequest('cancel', { requestId: 1 }), /there is no request `cancel` here/);
        await assert.rejects(dc.launchRequest({ program: '/nowhere.k', grid: 1 }), /cannot read \/nowhere\.k/);
        await assert.rejects(dc.launchRequest({ program: saxpy, grid: 64, processor: 'gfx906' }), /error: saxpy: .*arguments|error: .*argument/);
        await assert.rejects(dc.launchRequest({ program: saxpy, grid: 64, options: ['--list'], processor: 'gfx906' }), /`--list` does not go together with debugging/);
        await assert.rejects(dc.launchRequest({ program: saxpy, grid: 64, options: ['--nonsense'] }), /--nonsense/);
        const program = source('good.k', 'kernel k(out: *global u32) {\n    out[global_id(0)] = 7;\n}\n');
        const configured = dc.waitForEvent('initialized');
        await dc.launchRequest({ program, grid: 64, args: ['zeros:64'], processor: 'gfx906', stopOnEntry: true });
        await configured;
        await assert.rejects(dc.continueRequest({ threadId: 128 }), /the kernel does not run yet/);
        const stop = await stopped(dc, () => dc.configurationDoneRequest());
        assert.equal(stop.reason, 'entry');
        await assert.rejects(dc.configurationDoneRequest(), /the dispatch has begun/);
        await assert.rejects(variables(dc, 77), /there is no value 77/);
        await assert.rejects(dc.stackTraceRequest({ threadId: 5 }), /there is no thread 5/);
        await assert.rejects(dc.scopesRequest({}), /`frameId` is missing/);
        await Promise.all([dc.waitForEvent('terminated'), dc.terminateRequest({})]);
        await leave(dc);
    },
};

sessions[chosen]().then(
    (transcript) => transcript && fs.writeFileSync(path.join(folder, `${chosen}.txt`), transcript.map(told).join('')),
    (error) => {
        console.error(error);
        process.exit(1);
    },
);

/** A message in a line of a page. */
function told([arrow, message]) {
    const content = message.arguments ?? message.body;
    const text = content === undefined ? '' : ` ${JSON.stringify(content)}`.replaceAll(`${fs.realpathSync(folder)}/`, '');
    const name = message.event ? `event ${message.event}` : message.command;
    const short = text.length > 300 ? `${text.slice(0, 300)}...` : text;
    return `${arrow} ${name}${short}\n`;
}
