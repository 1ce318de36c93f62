// The page's own files, kept for the time without a network. The network comes first: a new version is there at the next
// load. What is kept is of one version: where a file differs, all are fetched anew and replaced together, and a page that was
// opened from what is kept gets all its files from there. Nothing of an account is kept here: requests to a homeserver pass
// by, and the program keeps its data in IndexedDB. What is done for a page that is not open is in the other files, sw-*.js.

importScripts('seal.js', 'sw-errands.js', 'sw-decrypt.js', 'sw-push.js', 'sw-outbox.js');

// The origin may have other programs' caches, too.
const cachePrefix = 'martlet-', cacheName = cachePrefix + 'shell';
const files = [
  './', 'attention.js', 'calendar.js', 'call-frames.js', 'call-media.js', 'call-preview.js', 'calls.js', 'capture.js', 'channels.js', 'dates.js', 'dom-batch.js', 'early.js', 'encryption.js', 'encryption-worker.js', 'errands.js',
  'events.js', 'exports.js', 'fetched.js', 'figures.js', 'file-service.js', 'files.js', 'frame-cipher.js', 'gestures.js', 'host-protocol.js', 'host.js', 'kept-list.js', 'keys.js',
  'language.js', 'layers.js', 'look.js', 'marks.js', 'media.js', 'network.js', 'page.js', 'popover.js', 'program.js', 'rich-editor.js', 'rich-lines.js', 'rich-markdown.js',
  'rich-paste.js', 'seal.js', 'sealed-files.js', 'sealed-media.js', 'settings.js', 'shell.js', 'sound.js', 'spoken.js', 'store.js', 'uploads.js', 'viewer.js', 'app.wasm', 'app.room.wasm',
  'app.more.wasm', 'texts.en.txt',
  'texts.ar.txt', 'texts.de.txt', 'texts.es.txt', 'texts.fr.txt', 'texts.ja.txt', 'emoji.txt', 'app.css', 'icon.svg',
  'icon-192.png', 'manifest.webmanifest',
];
// The program of calls, which a server may still be building or not have.
const furtherFiles = ['RoomCalls.wasm', 'RoomCalls.css'];
// The program of encryption, kept once a page has asked for it.
const usedFiles = ['EncryptionWorker.wasm'];
// A server that does not answer at all must not keep a page from opening that is here already.
const patienceMilliseconds = 4000;

self.addEventListener('install', event => {
  event.waitUntil(keepAll());
  self.skipWaiting();
});

self.addEventListener('activate', event => {
  event.waitUntil(caches.keys()
    .then(names => Promise.all(names.filter(name => name.startsWith(cachePrefix) && name !== cacheName && name !== errandCache).map(name => caches.delete(name))))
    .then(() => self.clients.claim()));
});

const pathOf = file => new URL(file, self.registration.scope).pathname;
const further = new Set([...furtherFiles, ...usedFiles].map(pathOf)), used = new Set(usedFiles.map(pathOf));
const kept = new Set([...files.map(pathOf), ...further]);

self.addEventListener('fetch', event => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== location.origin || !kept.has(url.pathname)) return;
  event.respondWith(answer(event, url.pathname));
});

// Where the page of each client came from: 'network' or 'cache'. Forgotten when the browser puts this worker to sleep: then
// each file is on its own again.
const origins = new Map();

async function answer(event, path) {
  const cache = await caches.open(cacheName);
  const old = await cache.match(path);
  // A page that is loaded anew begins anew, wherever the one came from that it follows.
  const origin = event.request.mode === 'navigate' ? undefined : origins.get(event.clientId);
  if (old && origin === 'cache') return old;
  const fresh = fetch(path, { cache: 'no-cache' });
  const isFirst = !old && used.has(path), copy = isFirst ? fresh.then(response => response.clone()) : null;
  event.waitUntil(fresh.then(async response => {
    if (!response.ok) return;
    if (isFirst) await cache.put(path, await copy); else if (!isSame(response, old)) await keepAll();
  }).catch(() => {}));
  // A program beside the page's own is loaded long after it, when the network may be gone.
  if (old && further.has(path)) return fresh.catch(() => old);
  if (!old || origin === 'network') return fresh;
  const late = new Promise(resolve => setTimeout(resolve, patienceMilliseconds, old));
  const answer = await Promise.race([fresh.catch(() => old), late]);
  if (event.request.mode === 'navigate' && event.resultingClientId) {
    origins.set(event.resultingClientId, answer === old ? 'cache' : 'network');
  }
  return answer;
}

function isSame(response, old) {
  const tag = response.headers.get('etag');
  return tag !== null && tag === old?.headers.get('etag');
}

let keeping = null;

// All files or, where one cannot be had, none of them. Of the further ones those that can be had, so that nothing is left of another version.
function keepAll() {
  keeping ??= (async () => {
    const ask = file => fetch(file, { cache: 'no-cache' });
    const cache = await caches.open(cacheName);
    const wasUsed = await Promise.all(usedFiles.map(file => cache.match(file)));
    const others = [...furtherFiles, ...usedFiles.filter((_, index) => wasUsed[index])];
    const [responses, further] = await Promise.all([
      Promise.all(files.map(ask)), Promise.all(others.map(file => ask(file).catch(() => Response.error()))),
    ]);
    if (!responses.every(response => response.ok)) throw new Error('a file of the page is missing');
    await Promise.all([
      ...files.map((file, index) => cache.put(file, responses[index])),
      ...others.map((file, index) => further[index].ok ? cache.put(file, further[index]) : cache.delete(file)),
    ]);
  })().finally(() => { keeping = null; });
  return keeping;
}
