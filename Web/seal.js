// What a program keeps in IndexedDB is sealed: AES-256-GCM with a key that scripts of this origin can use, and none can read. That protects copies
// of the browser's profile partly, and swapped records; against a script of the origin it does not. Documentation/Encryption.md
//
// A sealed value is the byte 1, 12 bytes of nonce, and the ciphertext with its tag. The record's key is authenticated with it: no record can stand for
// another. What was written by earlier versions, or while a page went away, has no seal; it is JSON, which never begins with that byte.
//
// A script for modules and for service workers, which not every browser lets be modules: it makes `seal`.

globalThis.seal = (() => {
  const SEALED = 1, NONCE = 12;
  const encoder = new TextEncoder();
  const parameters = (nonce, name) => ({ name: 'AES-GCM', iv: nonce, additionalData: encoder.encode(name) });

  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  // What is known of stores: their keys by name, and `NAME is sealed` once nothing in one is without a seal.
  async function known(mode, ask) {
    const opening = indexedDB.open('martlet keys', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
    const database = await done(opening);
    try { return await done(ask(database.transaction('keys', mode).objectStore('keys'))); } finally { database.close(); }
  }

  // null where the browser has no key to give: without TLS, and in some private windows. Fails where there may be one that cannot be read now.
  async function keyOf(store) {
    if (!globalThis.crypto?.subtle) return null;
    const key = await known('readonly', keys => keys.get(store));
    if (key) return key;
    const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
    try { await known('readwrite', keys => keys.add(made, store)); } catch { /* Another page was quicker, or keys cannot be kept. */ }
    return await known('readonly', keys => keys.get(store)) ?? null;
  }

  const isSealed = value => value[0] === SEALED;

  async function close(key, name, value) {
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE));
    const ciphertext = new Uint8Array(await crypto.subtle.encrypt(parameters(nonce, name), key, value));
    const sealed = new Uint8Array(1 + NONCE + ciphertext.length);
    sealed[0] = SEALED;
    sealed.set(nonce, 1);
    sealed.set(ciphertext, 1 + NONCE);
    return sealed;
  }

  // null where the value is damaged, of another record or of another key.
  async function open(key, name, value) {
    if (!isSealed(value)) return value;
    if (!key) return null;
    try {
      return new Uint8Array(await crypto.subtle.decrypt(parameters(value.subarray(1, 1 + NONCE), name), key, value.subarray(1 + NONCE)));
    } catch {
      return null;
    }
  }

  const isDone = store => known('readonly', keys => keys.get(store + ' is sealed'));
  const setDone = store => known('readwrite', keys => keys.put(true, store + ' is sealed'));

  return { keyOf, isSealed, close, open, isDone, setDone };
})();
