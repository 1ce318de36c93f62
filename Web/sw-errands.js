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

// undefined where nobody is signed in. `body` is what is sent as JSON, with GET nothing.
async function ask(method, path, body) {
  const { server } = await recall('page');
  const [session] = await readStore('a/session');
  if (!server || !session) return undefined;
  return fetch(server + '/_matrix/client/' + path, {
    method, headers: { Authorization: 'Bearer ' + session.access_token }, credentials: 'omit', cache: 'no-store',
    ...body && { body: JSON.stringify(body) },
  });
}

// What the program keeps under keys that begin so, in their order (store.js).
function readStore(prefix) {
  return new Promise(resolve => {
    const opening = indexedDB.open('martlet', 1);
    // Where there is none it is not to be made.
    opening.onupgradeneeded = () => opening.transaction.abort();
    opening.onerror = () => resolve([]);
    opening.onsuccess = () => {
      const database = opening.result;
      const reading = database.transaction('entries').objectStore('entries').getAll(IDBKeyRange.bound(prefix, prefix + '\uffff'));
      reading.transaction.onabort = () => resolve([]);
      reading.transaction.oncomplete = () => {
        database.close();
        const decoder = new TextDecoder();
        try { resolve(reading.result.map(bytes => JSON.parse(decoder.decode(bytes)))); } catch { resolve([]); }
      };
    };
  });
}
