// Trades the one-time token behind the `#` for a session, then shows what waits. Text is set as
// text only: what an agent wrote must never become markup.
'use strict';

const status = document.getElementById('status');

async function call(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error.message);
  return data;
}

async function show() {
  const token = location.hash.slice(1);
  if (token) {
    // Out of the address bar and the history before anything else happens.
    history.replaceState(null, '', location.pathname);
    await call('POST', '/v1/session', { link: token });
  }
  const session = await call('GET', '/v1/session');
  status.textContent = `Signed in as ${session.name} (${session.role}).`;
  const page = await call('GET', '/v1/requests?state=pending&limit=100');
  document.getElementById('heading').hidden = false;
  const list = document.getElementById('waiting');
  for (const request of page.requests) {
    const item = document.createElement('li');
    item.textContent = `${request.headline} (${request.agent}, ${request.id})`;
    list.append(item);
  }
  if (page.requests.length === 0) list.append('Nothing waits.');
}

show().catch((error) => {
  status.textContent = `Not signed in: ${error.message}. An admin makes a link with “holdpoint user link”.`;
});
