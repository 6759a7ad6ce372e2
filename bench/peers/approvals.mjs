// What one would write in an afternoon instead: the three routes the load driver uses, on node:http.
//
//   node approvals.mjs PORT memory
//   node approvals.mjs PORT sqlite FILE     (Node with node:sqlite; one synced write per change)
//
// No keys, no policy, no audit, no deadlines, no duplicate check: a comparison in its favour.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';

const [port, kind, file] = process.argv.slice(2);
const requests = new Map();

const store = kind === 'sqlite' ? await openSqlite(file) : { insert() {}, update() {} };

async function openSqlite(path) {
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(path);
    db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;');
    db.exec('CREATE TABLE request (id TEXT PRIMARY KEY, body TEXT, decision TEXT) WITHOUT ROWID');
    const insert = db.prepare('INSERT INTO request (id, body) VALUES (?, ?)');
    const update = db.prepare('UPDATE request SET decision = ? WHERE id = ?');
    return {
        insert: (id, body) => insert.run(id, body),
        update: (id, decision) => update.run(decision, id),
    };
}

function answer(response, status, text) {
    const length = Buffer.byteLength(text);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length });
    response.end(text);
}

function resource(request) {
    const outcome = request.decision ? '"approved"' : 'null';
    return `{"id":"${request.id}","outcome":${outcome},"request":${request.body},` +
        `"decision":${JSON.stringify(request.decision)}}`;
}

function create(response, body) {
    JSON.parse(body);
    const request = { id: randomUUID(), body, decision: null, waiting: [] };
    store.insert(request.id, body);
    requests.set(request.id, request);
    answer(response, 201, resource(request));
}

function decide(response, request, body) {
    if (request.decision) return answer(response, 409, '{}');
    const decision = JSON.parse(body);
    store.update(request.id, body);
    request.decision = decision;
    const text = resource(request);
    for (const waiter of request.waiting) answer(waiter, 200, text);
    answer(response, 200, text);
    // The map would grow for ever; whoever waits has the answer, and nobody asks again here.
    if (request.waiting.length > 0) requests.delete(request.id);
}

function wait(response, request) {
    if (!request.decision) return request.waiting.push(response);
    answer(response, 200, resource(request));
    requests.delete(request.id);
}

const server = createServer((message, response) => {
    const [, , , id] = message.url.split('?')[0].split('/');
    const request = id && requests.get(id);
    if (id && !request) return answer(response, 404, '{}');
    if (message.method === 'GET') return wait(response, request);
    let body = '';
    message.setEncoding('utf8');
    message.on('data', (part) => { body += part; });
    message.on('end', () => (id ? decide(response, request, body) : create(response, body)));
});
server.keepAliveTimeout = 600_000;
server.requestTimeout = 0;
server.listen(Number(port), '127.0.0.1', 1024);
