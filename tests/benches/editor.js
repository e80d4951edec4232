// How long an editor waits: from the start of `kernc debug --dap` to the first stop in saxpy, and for a step. `node tests/benches/editor.js KERNC`
'use strict';
const path = require('node:path');
const { spawn } = require('node:child_process');

const kernc = path.resolve(process.argv[2] ?? 'target/release/kernc');
const program = path.join(__dirname, '../examples/saxpy.k');
const RUNS = 50;

/** A server, and how to ask it. */
function server() {
    const child = spawn(kernc, ['debug', '--dap'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let [bytes, seq] = [Buffer.alloc(0), 0];
    const waiting = new Map();
    const hear = (key) => new Promise((resolve) => waiting.set(key, resolve));
    child.stdout.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk]);
        for (let at; (at = bytes.indexOf('\r\n\r\n')) >= 0; ) {
            const end = at + 4 + Number(/\d+/.exec(bytes.toString('latin1', 0, at))[0]);
            if (bytes.length < end) return;
            const message = JSON.parse(bytes.toString('utf8', at + 4, end));
            bytes = bytes.subarray(end);
            const key = message.event ?? message.request_seq;
            waiting.get(key)?.(message);
            waiting.delete(key);
        }
    });
    const send = (command, args) => {
        seq += 1;
        const text = JSON.stringify({ seq, type: 'request', command, arguments: args });
        child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
        return hear(seq);
    };
    return { hear, send, child };
}

async function run() {
    const began = process.hrtime.bigint();
    const ms = (from) => Number(process.hrtime.bigint() - from) / 1e6;
    const { hear, send, child } = server();
    const initialized = hear('initialized');
    await send('initialize', {});
    await send('launch', { program, processor: 'gfx906', grid: 256, args: { n: 256, a: 2, x: 'iota:256', y: 'zeros:256' }, stopOnEntry: true });
    await initialized;
    let stopped = hear('stopped');
    await send('configurationDone', {});
    const { body } = await stopped;
    const times = [ms(began)];
    for (const command of ['next', 'stepBack']) {
        const asked = process.hrtime.bigint();
        stopped = hear('stopped');
        await send(command, { threadId: body.threadId });
        await stopped;
        times.push(ms(asked));
    }
    await send('disconnect', {});
    child.kill();
    return times;
}

(async () => {
    const all = [];
    for (let n = 0; n < RUNS; n += 1) all.push(await run());
    ['first stop', 'step', 'step back'].forEach((name, at) => {
        const times = all.map((one) => one[at]).sort((a, b) => a - b);
        console.log(`${name}: ${times[0].toFixed(1)} ms at least, ${times[RUNS >> 1].toFixed(1)} ms in the middle, ${times[RUNS - 1].toFixed(1)} ms at most`);
    });
})();
