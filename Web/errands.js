// What the service worker does for the page while none is open (sw-errands.js): it shows what is pushed and sends what was not sent.
// What it has to know for that the page leaves in a cache; the access token it finds in the program's store.

import { locale } from './language.js';
import { setting, settings } from './settings.js';

export const service = program => ({
  push_subscribe(id, key) { subscribe(key, (code, lines) => program.dispatch(id, code, 0, 0, lines)); },
  push_unsubscribe() { unsubscribe(); },
});

const cacheName = 'martlet-errands';

async function leave(name, known) {
  await (await caches.open(cacheName)).put(name, new Response(JSON.stringify(known)));
}

const leavePage = () => leave('page', {
  server: settings().getItem('server') ?? location.origin, language: locale, quiet: ['quiet-from', 'quiet-until', 'snoozed-until'].map(setting),
});

// Something of it is different: what is pushed is told by it from now on.
export const renewPage = () => { if (setting('pushes') !== '') leavePage().catch(() => {}); };

// ---- Web Push

// Browsers that end a subscription after a few pushes that show nothing.
const mustShow = () => /^(?!.*(Chrom|Android)).*AppleWebKit/.test(navigator.userAgent);

const same = (bytes, text) => bytes && btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') === text;

// `key` is that of the server that is to push. `tell(code, lines)`: address, key and secret of the subscription; code 2 where every push
// has to show something. Code 0 without lines where there is no subscription.
async function subscribe(key, tell) {
  try {
    const worker = await navigator.serviceWorker.ready;
    let found = await worker.pushManager.getSubscription();
    // Of another server, or of one that has lost its key: it would never push.
    if (found && !same(found.options.applicationServerKey, key)) { await found.unsubscribe(); found = null; }
    found ??= await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint, keys } = found.toJSON();
    await leavePage();
    await leave('push', { key, pushkey: keys.p256dh });
    tell(mustShow() ? 2 : 1, [endpoint, keys.p256dh, keys.auth].join('\n'));
  } catch (error) {
    console.info('No Web Push:', error.message);
    tell(0, '');
  }
}

async function unsubscribe() {
  try {
    await (await caches.open(cacheName)).delete('push');
    const worker = await navigator.serviceWorker.ready;
    for (const one of await worker.getNotifications()) one.close();
    await (await worker.pushManager.getSubscription())?.unsubscribe();
  } catch (error) {
    console.info('Web Push has not ended:', error.message);
  }
}

// ---- The outbox

const unsent = new Set();

// A record of the program's store was written, or it, or all whose keys begin so, were deleted.
export function noteRecord(store, key, isThere) {
  if (store !== 'martlet') return;
  // The next user may sign in at another server. The worker must not send that server's token to this one.
  if (!isThere && 'a/session'.startsWith(key)) { unsent.clear(); globalThis.caches?.delete(cacheName).catch(() => {}); }
  if (!key.startsWith('a/outbox/')) return;
  if (!isThere) { unsent.delete(key); return; }
  unsent.add(key);
  if (!navigator.onLine) sendLater();
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden' && unsent.size > 0) sendLater();
});

// As soon as there is a network; the worker leaves it to a page that is open then.
async function sendLater() {
  try {
    await leavePage();
    await (await navigator.serviceWorker.ready).sync.register('outbox');
  } catch {
    // No Background Sync: the page sends when it opens next.
  }
}
