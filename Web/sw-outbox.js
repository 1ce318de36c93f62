// What was written and not sent before the page was closed is sent as soon as there is a network (Background Sync): messages with their
// files, edits, reactions, votes, what was deleted (Sources/Portable/ClientCore/Outbox has the other half).
//
// Nothing goes into a room that the program or the server knows as encrypted: the page encrypts it when it opens next
// (Sources/Portable/ClientCore/Outbox/Client+encryption.swift).
//
// Nothing is written into the program's store: the page sends all of it again when it opens next, under the same transaction IDs, of
// which the server makes one event each. In each room the order is kept: where one thing cannot go out, what follows it waits for the
// page.

// As entries say what they do (OutboxPayload.Kind).
const relationTypes = { 1: 'm.thread', 2: 'm.replace', 3: 'm.annotation', 5: 'm.reference' };
const redaction = 4;

self.addEventListener('sync', event => {
  if (event.tag === 'outbox') event.waitUntil(sendOutbox());
});

async function sendOutbox() {
  // A page that is open sends by itself. Who fails is asked again later, when it may be closed.
  if ((await pages()).length > 0) throw new Error('a page is open');
  const held = new Set();
  // Of entries that the server has: later ones may speak of them.
  const events = new Map();
  for (const entry of await readStore('a/outbox/')) {
    if (held.has(entry.room) || entry.failed !== undefined) continue;
    if (entry.event === undefined && !await isUnencrypted(entry.room)) { held.add(entry.room); continue; }
    // It may have been taken back there since.
    if ((await pages()).length > 0) throw new Error('a page is open');
    const event = entry.event ?? await send(entry, events);
    if (event === undefined) held.add(entry.room); else events.set(entry.id, event);
  }
}

// False, too, where the server does not say. What it says now is no reason to forget what it said before.
async function isUnencrypted(room) {
  const [known] = await readStore('a/room/' + storeKey(room));
  if (!known || known.encrypted) return false;
  return (await ask('GET', `client/v3/rooms/${encodeURIComponent(room)}/state/m.room.encryption/`))?.status === 404;
}

// The entry's event; undefined where it did not go out.
async function send(entry, events) {
  const { do: kind, target, reply, key } = entry;
  // Whatever else there is only the program can put together.
  if (kind !== redaction && !(kind in relationTypes)) return undefined;
  const [about, answered] = [target, reply].map(id => typeof id === 'number' ? events.get(id) : id);
  // What it speaks of has not gone out.
  if ((about ?? target) !== about || (answered ?? reply) !== answered) return undefined;
  const [room, type, transaction] = [entry.room, entry.type, entry.transaction].map(encodeURIComponent);
  const path = `client/v3/rooms/${room}/`;
  if (kind === redaction) return said(await ask('PUT', `${path}redact/${encodeURIComponent(about)}/${transaction}`, entry.content));
  const places = [];
  for (const file of entry.files ?? []) {
    const place = file.uri ?? await upload(file);
    if (place === undefined) return undefined;
    places.push(place);
  }
  const relation = {
    ...about !== undefined && { rel_type: relationTypes[kind], event_id: about },
    ...key !== undefined && { key },
    ...answered !== undefined && { 'm.in_reply_to': { event_id: answered } },
    ...answered !== undefined && entry.fallback && { is_falling_back: true },
  };
  const content = filled(entry.content, places);
  const body = kind === 2 ? edited(content, entry.mentions) : content;
  if (Object.keys(relation).length > 0) body['m.relates_to'] = relation;
  return said(await ask('PUT', `${path}send/${type}/${transaction}`, body));
}

const said = async answer => answer?.ok ? (await answer.json()).event_id : undefined;

// Its place on the server; undefined where it is gone, or the server did not take it.
async function upload({ blob, type, name }) {
  // From an attempt that did not come to its end.
  const { place } = await recall('file/' + blob);
  if (place !== undefined) return place;
  const file = await readFile(blob);
  if (!file) return undefined;
  const rest = await begunPart(blob);
  if (rest === undefined) return undefined;
  const sent = rest === null ? await sendWhole(file, type, name) : await sendRest(rest, file, type, name);
  if (sent !== undefined) await remember('file/' + blob, { place: sent });
  return sent;
}

async function sendWhole(file, type, name) {
  const answer = await ask('POST', 'media/v3/upload?filename=' + encodeURIComponent(name), file.slice(0, file.size, type));
  return answer?.ok ? (await answer.json()).content_uri : undefined;
}

// How far the page has sent a large file in parts (uploads.js); null where it has not, or the server has forgotten it, undefined where
// the server does not say now: then it is for the next time.
async function begunPart(blob) {
  const place = await readFile(blob + ' place');
  if (!place) return null;
  const path = place.uri.slice('mxc://'.length);
  const asked = await ask('GET', 'client/unstable/martlet.resumable/' + path);
  if (asked?.status === 404) return null;
  return asked?.ok ? { ...await asked.json(), uri: place.uri, path } : undefined;
}

async function sendRest({ offset, complete, uri, path }, file, type, name) {
  if (complete) return uri;
  const range = offset < file.size ? `${offset}-${file.size - 1}` : '*';
  const answer = await ask('PUT', `media/v3/upload/${path}?filename=${encodeURIComponent(name)}`, file.slice(offset, file.size, type),
    { 'Content-Range': `bytes ${range}/${file.size}` });
  return answer?.ok && (await answer.json()).complete ? uri : undefined;
}

// `upload:N` stands where the program could not know yet which address the file N would have (OutboxFile.placeholder).
function filled(value, places) {
  if (Array.isArray(value)) return value.map(one => filled(one, places));
  if (value === null || typeof value !== 'object') return value;
  const isPlace = (key, one) => (key === 'url' || key === 'thumbnail_url') && typeof one === 'string' && one.startsWith('upload:');
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [
    key, isPlace(key, one) ? places[Number(one.slice(7))] ?? one : filled(one, places),
  ]));
}

// Spec: "Event replacements": for clients that know no edits the text begins with an asterisk. `mentions` are those who were not mentioned before.
function edited(content, mentions) {
  const starred = ['body', 'formatted_body'].filter(name => typeof content[name] === 'string').map(name => [name, '* ' + content[name]]);
  return { ...content, ...Object.fromEntries(starred), 'm.mentions': mentions ?? content['m.mentions'] ?? {}, 'm.new_content': content };
}
