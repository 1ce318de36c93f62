// The page's own files, kept for the time without a network. The network comes first: a new version is there at the next
// load, and what is kept is replaced where its ETag differs. Nothing of an account is kept here: requests to a homeserver
// pass by, and the program keeps its data in IndexedDB.

const cacheName = 'martlet-shell';
const files = ['./', 'host.js', 'shell.js', 'app.wasm', 'messenger.css', 'app.css', 'icon.svg', 'icon-192.png', 'manifest.webmanifest'];
// A server that does not answer at all must not keep a page from opening that is here already.
const patienceMilliseconds = 4000;

self.addEventListener('install', event => {
  event.waitUntil(caches.open(cacheName).then(cache => cache.addAll(files.map(file => new Request(file, { cache: 'no-cache' })))));
  self.skipWaiting();
});

self.addEventListener('activate', event => {
  event.waitUntil(caches.keys()
    .then(names => Promise.all(names.filter(name => name !== cacheName).map(name => caches.delete(name))))
    .then(() => self.clients.claim()));
});

const kept = new Set(files.map(file => new URL(file, self.registration.scope).pathname));

self.addEventListener('fetch', event => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== location.origin || !kept.has(url.pathname)) return;
  event.respondWith(answer(event, url.pathname));
});

async function answer(event, path) {
  const cache = await caches.open(cacheName);
  const old = await cache.match(path);
  const fresh = fetch(path, { cache: 'no-cache' }).then(response => {
    if (response.ok) event.waitUntil(keep(cache, path, old, response.clone()));
    return response;
  });
  if (!old) return fresh;
  const late = new Promise(resolve => setTimeout(resolve, patienceMilliseconds, old));
  return Promise.race([fresh.catch(() => old), late]);
}

async function keep(cache, path, old, response) {
  const tag = response.headers.get('etag');
  if (tag && tag === old?.headers.get('etag')) return;
  await cache.put(path, response);
}
