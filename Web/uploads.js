// Large files go up in parts, where the server takes them so, and go on where they stopped: after a lost connection, and in a page that was
// loaded anew. The server knows how much of a file it has (Documentation/Extensions.md, `martlet.resumable`).

import { dropPlace, keepPlace, nameOf, placeOf } from './files.js';
import { tokenFor } from './media.js';
import { request, upload } from './network.js';

// A proxy that holds a part back until it is whole loses no more than this.
const partBytes = 8 << 20;
// Waits between attempts that moved nothing on; then the program is told, which waits for the network.
const pauses = [500, 1000, 2000, 4000];
const giveUpMilliseconds = 30_000;

const api = '/_matrix/';
const offers = new Map();     // server -> whether it takes parts
const unfinished = new Map(); // name of a file -> its place, also where nothing can be kept
const encoder = new TextEncoder(), decoder = new TextDecoder();

// As `upload` of network.js.
export function uploadFile(head, file, progress, done) {
  const start = head.url.indexOf(api), end = api + 'media/v3/upload';
  if (file.size <= partBytes || head.method !== 'POST' || !head.url.startsWith(end, start)) return upload(head, file, progress, done);
  let current = null, isStopped = false;
  const [server, query] = [head.url.slice(0, start), head.url.slice(start + end.length)];
  const [token, type] = ['Authorization', 'Content-Type'].map(wanted => head.headers.filter(([name]) => name === wanted));
  // Of what is stopped nothing more is heard.
  const ask = (head, body, moved) => new Promise(answered => {
    if (isStopped) return;
    current = upload(head, body, moved, (status, headCount, bytes) => {
      answered({ status, headCount, bytes, said: status === 0 ? {} : read(bytes.subarray(headCount)) });
    });
  });
  const headTo = (method, path, headers = []) => ({ method, url: server + api + path, timeout: head.timeout, headers: [...token, ...headers] });
  sendAll({
    file, server, query, type, progress, headTo,
    send: (method, path, { body = null, headers, moved = () => {} } = {}) => ask(headTo(method, path, headers), body, moved),
    sendWhole: () => ask(head, file, progress),
  }).catch(() => failed).then(({ status, headCount, bytes }) => done(status, headCount, bytes));
  return { stop: () => { isStopped = true; current?.stop(); } };
}

// Whatever has come between: the program tries again.
const failed = { status: 0, headCount: 0, bytes: new Uint8Array(0) };

function read(bytes) {
  try { return JSON.parse(decoder.decode(bytes)) ?? {}; } catch { return {}; }
}

// Answers as the server would to the whole file.
async function sendAll(sending) {
  const { file } = sending;
  for (let place = await placeOf(file); ; place = undefined) {
    const isOld = place !== undefined;
    if (!isOld) {
      const { answer, uri } = await findPlace(sending);
      if (answer) return answer;
      if (uri === undefined) return sending.sendWhole();
      place = { server: sending.server, uri, sent: 0 };
      keepPlace(file, place);
    }
    unfinished.set(nameOf(file), place);
    const answer = await sendParts(sending, place, isOld);
    if (answer.status === 200 || answer.status === 404) unfinished.delete(nameOf(file));
    if (answer.status !== 404 || !isOld) return answer;
    // The server has forgotten it: once more, from the beginning.
    dropPlace(file);
  }
}

const pathOf = uri => uri.slice('mxc://'.length);
const progressPath = uri => 'client/unstable/martlet.resumable/' + pathOf(uri);

// Where the file is to lie; an answer where that cannot be known now, neither where this server takes no parts, or no more.
async function findPlace({ send, server }) {
  if (!offers.has(server)) {
    const answer = await send('GET', 'client/v3/capabilities');
    if (answer.status !== 200) return { answer };
    offers.set(server, answer.said.capabilities?.['martlet.resumable']?.enabled === true);
  }
  if (!offers.get(server)) return {};
  const answer = await send('POST', 'media/v1/create', { body: '{}' });
  if (answer.status === 0 || answer.status === 401) return { answer };
  return { uri: answer.said.content_uri };
}

async function sendParts({ send, file, query, type, progress }, place, isOld) {
  const tell = bytes => {
    place.shown = Math.max(place.shown ?? 0, bytes / file.size);
    progress(place.shown);
  };
  let offset = 0, furthest = 0, isComplete = false, failures = 0;
  // A place in the file; behind the one before where `moves`. Else the same would be sent for ever.
  const isPlace = (said, moves) => Number.isInteger(said.offset) && said.offset >= 0 && said.offset <= file.size
    && (!moves || said.offset > offset || said.complete === true);
  const take = said => {
    if (said.offset > furthest) [failures, furthest] = [0, said.offset];
    [offset, isComplete] = [said.offset, said.complete === true];
    [place.sent, place.isComplete] = [offset, isComplete];
    keepPlace(file, place);
    tell(offset);
  };
  tell(place.sent);
  if (isOld) {
    const answer = await send('GET', progressPath(place.uri));
    if (answer.status !== 200) return answer;
    if (!isPlace(answer.said)) return failed;
    take(answer.said);
  }
  while (!isComplete) {
    const end = Math.min(offset + partBytes, file.size), range = offset < end ? `${offset}-${end - 1}` : '*';
    const answer = await send('PUT', 'media/v3/upload/' + pathOf(place.uri) + query, {
      body: file.slice(offset, end), headers: [...type, ['Content-Range', `bytes ${range}/${file.size}`]],
      moved: part => tell(offset + part * (end - offset)),
    });
    if (answer.status === 200 && isPlace(answer.said, true)) take(answer.said);
    else if (![0, 200, 408, 409, 502, 503, 504].includes(answer.status) || failures === pauses.length) return answer.status === 200 ? failed : answer;
    else {
      await new Promise(passed => setTimeout(passed, pauses[failures++]));
      const asked = await send('GET', progressPath(place.uri));
      if (asked.status === 200 && isPlace(asked.said)) take(asked.said);
    }
  }
  return { status: 200, headCount: 0, bytes: encoder.encode(JSON.stringify({ content_uri: place.uri })) };
}

// Of a file that nobody wants to send any more the server keeps nothing. `kept` is a promise of the place from before the page was loaded.
export async function giveUp(name, kept) {
  const begun = unfinished.get(name);
  unfinished.delete(name);
  const place = begun ?? await kept;
  if (!place || place.isComplete) return;
  const token = tokenFor(place.server);
  if (token === '') return;
  const headers = [['Authorization', 'Bearer ' + token]];
  request({ method: 'DELETE', url: place.server + api + progressPath(place.uri), timeout: giveUpMilliseconds, headers }, undefined, () => {});
}
