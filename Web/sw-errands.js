// What the service worker has to know to do something for the page while none is open, and how it asks the homeserver. The page leaves
// the server's address, the language and the keys of Web Push in a cache (errands.js). The access token is the one that the program
// keeps in its store; where the server takes it no longer, the page does these things when it opens next.

const errandCache = 'martlet-errands';

const recall = async name => await (await (await caches.open(errandCache)).match(name))?.json() ?? {};
const remember = async (name, known) => (await caches.open(errandCache)).put(name, new Response(JSON.stringify(known)));

// ---- Pages

const scope = new URL(self.registration.scope).pathname;

// The client as a page of its own, not within others.
async function pages() {
  const all = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  return all.filter(page => page.frameType === 'top-level' && new URL(page.url).pathname === scope);
}

// ---- The homeserver

// undefined where nobody is signed in. `path` is behind `/_matrix/`; `body` a file, or what is sent as JSON, with GET nothing.
async function ask(method, path, body, headers) {
  const { server } = await recall('page');
  const [session] = await readStore('a/session');
  if (!server || !session) return undefined;
  return fetch(server + '/_matrix/' + path, {
    method, headers: { Authorization: 'Bearer ' + session.access_token, ...headers }, credentials: 'omit', cache: 'no-store',
    ...body && { body: body instanceof Blob ? body : JSON.stringify(body) },
  });
}

// What the program keeps under keys that begin so, in their order (store.js): JSON.
async function readStore(prefix) {
  const decoder = new TextDecoder();
  try { return (await readRecords(prefix)).map(({ value }) => JSON.parse(decoder.decode(value))); } catch { return []; }
}

// Likewise, with the keys, as bytes.
async function readRecords(prefix) {
  const range = IDBKeyRange.bound(prefix, prefix + '\uffff');
  try {
    const [keys, values, key] = await Promise.all([
      readDatabase('martlet', 'entries', entries => entries.getAllKeys(range)), readDatabase('martlet', 'entries', entries => entries.getAll(range)),
      seal.keyOf('martlet'),
    ]);
    const plain = await Promise.all((values ?? []).map(async (value, k) => ({ key: keys[k], value: await seal.open(key, keys[k], value) })));
    return plain.filter(({ value }) => value !== null);
  } catch {
    return [];
  }
}

// A name in a key of the store (RFC 3986: everything but unreserved bytes as `%XX`).
const storeKey = name => encodeURIComponent(name).replace(/[!'()*]/g, sign => '%' + sign.charCodeAt(0).toString(16).toUpperCase());

// A file that waits to be sent (files.js); undefined where it is gone.
const readFile = name => readDatabase('martlet files', 'files', files => files.get(name));

// undefined where there is no such database, or it cannot be read.
function readDatabase(name, table, ask) {
  return new Promise(resolve => {
    const opening = indexedDB.open(name, 1);
    // Do not create the database if it does not exist.
    opening.onupgradeneeded = () => opening.transaction.abort();
    opening.onerror = () => resolve(undefined);
    opening.onsuccess = () => {
      const database = opening.result;
      const reading = ask(database.transaction(table).objectStore(table));
      reading.transaction.onabort = () => resolve(undefined);
      reading.transaction.oncomplete = () => {
        database.close();
        resolve(reading.result);
      };
    };
  });
}
