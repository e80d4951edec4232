// A session with `kernc debug --dap` by the client library of VS Code's own team, with each message written down.
'use strict';
const { spawn } = require('node:child_process');
const { Transform } = require('node:stream');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

/** Passes bytes on, and each message in them to `seen`. */
function tap(seen) {
    let bytes = Buffer.alloc(0);
    return new Transform({
        transform(chunk, _, done) {
            bytes = Buffer.concat([bytes, chunk]);
            for (;;) {
                const header = bytes.indexOf('\r\n\r\n');
                const length = /^Content-Length: (\d+)/.exec(bytes.toString('latin1', 0, header));
                if (header < 0 || bytes.length < header + 4 + Number(length[1])) break;
                const end = header + 4 + Number(length[1]);
                seen(JSON.parse(bytes.toString('utf8', header + 4, end)));
                bytes = bytes.subarray(end);
            }
            done(null, chunk);
        },
    });
}

/** A client of a server of its own; `exited` is its exit code, `transcript` what was said. */
function client(kernc, options = {}) {
    const server = spawn(kernc, ['debug', '--dap'], { stdio: ['pipe', 'pipe', 'inherit'], ...options });
    const dc = new DebugClient('', '', 'kernc');
    const [toServer, fromServer] = [tap((message) => dc.transcript.push(['-->', message])), tap((message) => dc.transcript.push(['<--', message]))];
    dc.defaultTimeout = 60000;
    dc.transcript = [];
    dc.exited = new Promise((resolve) => server.on('exit', (code) => resolve(code)));
    toServer.pipe(server.stdin);
    dc.connect(server.stdout.pipe(fromServer), toServer);
    return dc;
}

module.exports = { client };
