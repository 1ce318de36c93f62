// Requests to homeservers. An answer is bytes: first the headers that the program reads, then the body.

// What the live figures look at (figures.js): when syncs were answered only while somebody does.
export const traffic = { underWay: 0, isWatched: false, answeredSyncs: [] };

const encoder = new TextEncoder();
const nothing = new Uint8Array(0);

export const networkService = program => ({
  fetch(id, head, body) {
    program.objects.set(id, request(readHead(head), body.length > 0 ? body : undefined, (status, headCount, bytes) => {
      program.objects.delete(id);
      program.dispatch(id, status, headCount, 0, bytes);
    }));
  },
});

// METHOD, URL, timeout, the limit of the answer, then name:value lines.
export function readHead(text) {
  const [method, url, timeout, limit, ...lines] = text.split('\n');
  const headers = lines.map(line => { const k = line.indexOf(':'); return [line.slice(0, k), line.slice(k + 1)]; });
  return { method, url, timeout: Number(timeout), limit: Number(limit), headers };
}

function answerBytes(headerOf, body) {
  const lines = [];
  for (const name of ['content-type', 'retry-after']) {
    const value = headerOf(name);
    if (value) lines.push(name + ':' + value);
  }
  const head = encoder.encode(lines.join('\n'));
  const bytes = new Uint8Array(head.length + body.byteLength);
  bytes.set(head);
  bytes.set(new Uint8Array(body), head.length);
  return { headCount: head.length, bytes };
}

// Returns null if the body is longer than `limit`, at once where the server says so. It counts the bytes too, because a stated length may be wrong.
async function bodyOf(answer, limit) {
  if (!(limit > 0) || answer.body === null) return answer.arrayBuffer();
  if (Number(answer.headers.get('Content-Length')) > limit) {
    answer.body.cancel().catch(() => {});
    return null;
  }
  const reader = answer.body.getReader(), parts = [];
  let count = 0;
  for (let part; !(part = await reader.read()).done;) {
    count += part.value.length;
    if (count > limit) {
      reader.cancel().catch(() => {});
      return null;
    }
    parts.push(part.value);
  }
  return new Blob(parts).arrayBuffer();
}

// Calls `done(status, headCount, bytes)` once, also after `stop`; with status 0 if no answer came.
export function request({ method, url, timeout, limit, headers }, body, done) {
  const abort = new AbortController();
  const timer = timeout > 0 ? setTimeout(() => abort.abort(), timeout) : 0;
  traffic.underWay++;
  (async () => {
    let status = 0, headCount = 0, bytes = nothing;
    try {
      const answer = await fetch(url, { method, headers, body, signal: abort.signal, credentials: 'omit', cache: 'no-store' });
      const content = await bodyOf(answer, limit);
      ({ headCount, bytes } = answerBytes(name => answer.headers.get(name), content ?? nothing));
      status = content === null ? 413 : answer.status;
    } catch {
      // No answer: status 0 says so.
    }
    clearTimeout(timer);
    traffic.underWay--;
    if (traffic.isWatched && status === 200 && /\/sync\b/.test(url)) traffic.answeredSyncs.push(performance.now());
    done(status, headCount, bytes);
  })();
  return { stop: () => abort.abort() };
}

// As `request`, but for being stopped, of which nobody hears; `progress` is a part of 1.
export function upload({ method, url, timeout, headers }, file, progress, done) {
  const request = new XMLHttpRequest();
  const fail = () => done(0, 0, nothing);
  request.upload.onprogress = e => progress(e.total > 0 ? e.loaded / e.total : 0);
  request.onload = () => {
    const { headCount, bytes } = answerBytes(name => request.getResponseHeader(name), request.response ?? new ArrayBuffer(0));
    done(request.status, headCount, bytes);
  };
  request.onerror = fail;
  request.ontimeout = fail;
  try {
    request.open(method, url);
    request.responseType = 'arraybuffer';
    request.timeout = timeout;
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    request.send(file);
  } catch {
    setTimeout(fail);
  }
  return { stop: () => request.abort() };
}
