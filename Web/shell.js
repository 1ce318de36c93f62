// Keeps the page's own files for the time without a network (sw.js). Where the connection is lost meanwhile it is begun again: notifications
// and what waits to be sent need the service worker, too.

import { keepTrying } from './program.js';

if ('serviceWorker' in navigator) keepTrying(install);

async function install() {
  const registration = await register();
  const coming = registration?.installing;
  if (!coming || registration.active) return;
  await new Promise((done, failed) => {
    coming.addEventListener('statechange', () => coming.state === 'redundant' ? failed('The service worker could not fetch its files.') : done(), { once: true });
  });
}

// Returns undefined where there is to be none: in private windows the page needs the network to open.
async function register() {
  try {
    return await navigator.serviceWorker.register('sw.js', { updateViaCache: 'none' });
  } catch (error) {
    // Only a failed fetch is one.
    if (error instanceof TypeError) throw error;
    console.info('No offline copy:', error.message);
  }
}
