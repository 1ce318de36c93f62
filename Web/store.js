// The program's records in IndexedDB: one map of text keys (ASCII, so that the order of the texts is that of their bytes) to
// bytes. What is asked and answered is packed as Sources/Web/WebHost/Host+Storage.swift says; numbers are little-endian.
// `then` is called once, later, with null or false where the store failed. A store without a name is a Map that goes away with the page.

const decoder = new TextDecoder();
const encoder = new TextEncoder();

let newest = null;
let lastName = null, tellName = () => {};

// Calls `then` with the name of each store that the program opens, also of the one that it has opened already.
export function onStoreOpened(then) {
  tellName = then;
  if (lastName !== null) then(lastName);
}

// `onWrite(store, key, isThere)`: a record was written, or it, or all whose keys begin so, were deleted.
export const storeService = ({ onWrite }) => program => ({
  store_open(id, name) {
    lastName = name;
    tellName(name);
    openStore(name, database => {
      if (database) program.objects.set(id, { database, stop: () => database.close?.() });
      program.dispatch(id, database ? 1 : 0);
    });
  },
  store_read(store, id, range) {
    readStore(program.objects.get(store)?.database, range, bytes => program.dispatch(id, bytes ? 1 : 0, 0, 0, bytes));
  },
  store_write(store, id, batch) {
    const database = program.objects.get(store)?.database;
    writeStore(database, batch, isStored => program.dispatch(id, isStored ? 1 : 0), (key, isThere) => onWrite(database.name, key, isThere));
  },
});

export function openStore(name, then) {
  if (name === '') { setTimeout(() => then(new Map())); return; }
  let request;
  try { request = indexedDB.open(name, 1); } catch { setTimeout(() => then(null)); return; }
  request.onupgradeneeded = () => request.result.createObjectStore('entries');
  request.onerror = () => then(null);
  request.onsuccess = () => {
    const database = request.result;
    database.onversionchange = () => database.close();
    newest = database;
    then(database);
  };
}

// nil where no key can be in it, which IndexedDB takes for an error.
function keyRange(prefix, after, before) {
  let lower = prefix, lowerIsOpen = false, upper = prefix + '\uffff', upperIsOpen = false;
  if (after !== '' && after >= lower) [lower, lowerIsOpen] = [after, true];
  if (before !== '' && before <= upper) [upper, upperIsOpen] = [before, true];
  return lower > upper || (lower === upper && (lowerIsOpen || upperIsOpen)) ? null
    : IDBKeyRange.bound(lower, upper, lowerIsOpen, upperIsOpen);
}

// bytes: 1 where the last key comes first, the limit (0: none), the counts of prefix, after and before, then these texts.
export function readStore(database, bytes, then) {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const texts = [];
    let at = 17;
    for (const k of [5, 9, 13]) texts.push(decoder.decode(bytes.subarray(at, at += view.getUint32(k, true))));
    const range = keyRange(...texts), limit = view.getUint32(1, true) || undefined;
    if (database instanceof Map) {
      const found = [...database.keys()].filter(key => range?.includes(key)).sort();
      if (bytes[0] === 1) found.reverse();
      const chosen = found.slice(0, limit);
      setTimeout(() => then(packEntries(chosen, chosen.map(key => database.get(key)))));
      return;
    }
    const entries = database.transaction('entries').objectStore('entries');
    let keys = [], values = [];
    if (range && bytes[0] === 1) {
      entries.openCursor(range, 'prev').onsuccess = ({ target: { result: cursor } }) => {
        if (!cursor || keys.length === limit) return;
        keys.push(cursor.key);
        values.push(cursor.value);
        cursor.continue();
      };
    } else if (range) {
      entries.getAllKeys(range, limit).onsuccess = e => { keys = e.target.result; };
      entries.getAll(range, limit).onsuccess = e => { values = e.target.result; };
    }
    entries.transaction.oncomplete = () => then(packEntries(keys, values));
    entries.transaction.onabort = () => then(null);
  } catch {
    setTimeout(() => then(null));
  }
}

// Per entry: key count, value count, key, value.
function packEntries(keys, values) {
  const names = keys.map(key => encoder.encode(key));
  const bytes = new Uint8Array(names.reduce((sum, name, k) => sum + 8 + name.length + values[k].length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  names.forEach((name, k) => {
    view.setUint32(at, name.length, true);
    view.setUint32(at + 4, values[k].length, true);
    bytes.set(name, at + 8);
    bytes.set(values[k], at + 8 + name.length);
    at += 8 + name.length + values[k].length;
  });
  return bytes;
}

const mapEntries = map => ({
  put: (value, key) => map.set(key, value),
  delete: key => { for (const one of typeof key === 'string' ? [key] : [...map.keys()].filter(one => key.includes(one))) map.delete(one); },
});

// bytes, per change: 1 put, 2 delete or 3 delete by prefix, key count, value count, key, value. `note` hears of each change that was stored.
export function writeStore(database, bytes, then, note = () => {}) {
  try {
    const entries = database instanceof Map ? mapEntries(database) : database.transaction('entries', 'readwrite').objectStore('entries');
    const view = new DataView(bytes.buffer, bytes.byteOffset), notes = [];
    for (let at = 0; at < bytes.length;) {
      const kind = bytes[at], keyCount = view.getUint32(at + 1, true), valueCount = view.getUint32(at + 5, true);
      const key = decoder.decode(bytes.subarray(at + 9, at + 9 + keyCount));
      at += 9 + keyCount + valueCount;
      if (kind === 1) entries.put(bytes.slice(at - valueCount, at), key);
      else entries.delete(kind === 2 ? key : keyRange(key, '', ''));
      notes.push([key, kind === 1]);
    }
    if (database instanceof Map) { setTimeout(() => then(true)); return; }
    entries.transaction.oncomplete = () => {
      then(true);
      for (const [key, isThere] of notes) note(key, isThere);
    };
    entries.transaction.onabort = () => then(false);
    // Without this a page that goes away takes the batch with it.
    entries.transaction.commit?.();
  } catch {
    setTimeout(() => then(false));
  }
}

// How many entries have keys that begin so, in the store opened last; null where that cannot be said.
export function countEntries(prefix) {
  return new Promise(resolve => {
    try {
      const counting = newest.transaction('entries').objectStore('entries').count(keyRange(prefix, '', ''));
      counting.onsuccess = () => resolve(counting.result);
      counting.onerror = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
}
