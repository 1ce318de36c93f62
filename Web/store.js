// The program's records in IndexedDB: one map of text keys (ASCII, so that the order of the texts is that of their bytes) to
// bytes. What is asked and answered is packed as Sources/Web/WebHost/Host+Storage.swift says; numbers are little-endian.
// `then` is called once, later, with null or false where the store failed. A store without a name is a Map that goes away with the page.

import './seal.js';

const decoder = new TextDecoder();
const encoder = new TextEncoder();
// How many records are sealed at a time.
const SLICE = 200;

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
    openStore(name, opened => {
      if (opened) program.objects.set(id, { opened, stop: () => opened.close?.() });
      program.dispatch(id, opened ? 1 : 0);
    });
  },
  store_read(store, id, range) {
    readStore(program.objects.get(store)?.opened, range, bytes => program.dispatch(id, bytes ? 1 : 0, 0, 0, bytes));
  },
  store_write(store, id, batch) {
    const opened = program.objects.get(store)?.opened;
    writeStore(opened, batch, isStored => program.dispatch(id, isStored ? 1 : 0), (key, isThere) => onWrite(opened.name, key, isThere));
  },
});

// A database with its seal. Batches are sealed before their transactions begin, which would end while one waits: so what is asked waits in `queue`
// until all that was asked before has begun.
class Store {
  #queue = [];

  constructor(database, key) {
    this.database = database;
    this.key = key;
    stores.add(this);
  }

  get name() { return this.database.name; }

  close() {
    stores.delete(this);
    this.database.close();
  }

  // `begin(value)` once there is what is prepared, null where that failed, and all that was asked before has begun. `fallback`: what to begin with
  // if the page goes away first.
  ask(prepared, fallback, begin) {
    const job = { begin: () => begin(fallback), isReady: false };
    this.#queue.push(job);
    if (isLeaving) { this.flush(); return; }
    Promise.resolve(prepared).catch(() => null).then(value => {
      job.begin = () => begin(value);
      job.isReady = true;
      while (this.#queue[0]?.isReady) this.#queue.shift().begin();
    });
  }

  // Now, with what there is: nothing comes true any more in a page that goes away.
  flush() { while (this.#queue.length > 0) this.#queue.shift().begin(); }

  seal(changes) {
    if (!this.key) return changes;
    return Promise.all(changes.map(async change => change.value ? { ...change, value: await seal.close(this.key, change.key, change.value) } : change));
  }
}

const stores = new Set();
let isLeaving = false;

for (const event of ['pagehide', 'freeze']) {
  addEventListener(event, () => {
    isLeaving = true;
    for (const store of stores) store.flush();
  }, { capture: true });
}
for (const event of ['pageshow', 'resume']) addEventListener(event, () => { isLeaving = false; }, { capture: true });

export function openStore(name, then) {
  if (name === '') { setTimeout(() => then(new Map())); return; }
  let request;
  try { request = indexedDB.open(name, 1); } catch { setTimeout(() => then(null)); return; }
  request.onupgradeneeded = () => request.result.createObjectStore('entries');
  request.onerror = () => then(null);
  request.onsuccess = async () => {
    const database = request.result;
    let key;
    try { key = await seal.keyOf(name); } catch (error) {
      console.error(error);
      database.close();
      then(null);
      return;
    }
    const store = new Store(database, key);
    database.onversionchange = () => store.close();
    newest = database;
    then(store);
    if (key) sealRest(store).catch(error => console.info(String(error)));
  };
}

// What an earlier version has left without a seal, in slices, so that nobody waits. It goes on where a page was closed.
async function sealRest(store) {
  if (await seal.isDone(store.name)) return;
  for (let after = '', isLast = false; !isLast;) {
    const range = keyRange('', after, '');
    const entries = store.database.transaction('entries').objectStore('entries');
    const [keys, values] = await Promise.all([entries.getAllKeys(range, SLICE), entries.getAll(range, SLICE)].map(request => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    })));
    await sealPlain(store, keys, values);
    isLast = keys.length < SLICE;
    after = keys.at(-1) ?? after;
    await new Promise(resolve => setTimeout(resolve));
  }
  await seal.setDone(store.name);
}

// Unless they are different by then.
async function sealPlain(store, keys, values) {
  const plain = keys.map((key, k) => ({ key, value: values[k] })).filter(({ value }) => !seal.isSealed(value));
  if (plain.length === 0) return;
  const sealed = await store.seal(plain);
  const entries = store.database.transaction('entries', 'readwrite').objectStore('entries');
  plain.forEach(({ key, value }, k) => {
    entries.get(key).onsuccess = ({ target: { result } }) => { if (result && isSame(result, value)) entries.put(sealed[k].value, key); };
  });
  await new Promise(resolve => { entries.transaction.oncomplete = entries.transaction.onabort = resolve; });
}

const isSame = (one, other) => one.length === other.length && one.every((byte, k) => byte === other[k]);

// nil where no key can be in it, which IndexedDB takes for an error.
function keyRange(prefix, after, before) {
  let lower = prefix, lowerIsOpen = false, upper = prefix + '\uffff', upperIsOpen = false;
  if (after !== '' && after >= lower) [lower, lowerIsOpen] = [after, true];
  if (before !== '' && before <= upper) [upper, upperIsOpen] = [before, true];
  return lower > upper || (lower === upper && (lowerIsOpen || upperIsOpen)) ? null
    : IDBKeyRange.bound(lower, upper, lowerIsOpen, upperIsOpen);
}

// bytes, per range: 1 where the last key comes first, the limit (0: none), the counts of prefix, after and before, then these texts.
// `then` is given the entries of all ranges, one range after the other.
export function readStore(store, bytes, then) {
  try {
    const ranges = unpackRanges(bytes);
    if (store instanceof Map) {
      const keys = ranges.flatMap(({ range, limit, isDescending }) => {
        const found = [...store.keys()].filter(key => range?.includes(key)).sort();
        if (isDescending) found.reverse();
        return found.slice(0, limit);
      });
      setTimeout(() => then(packEntries(keys, keys.map(key => store.get(key)))));
      return;
    }
    store.ask(undefined, undefined, () => readDatabase(store, ranges, then));
  } catch {
    setTimeout(() => then(null));
  }
}

function unpackRanges(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset), ranges = [];
  for (let at = 0; at < bytes.length;) {
    const head = at, texts = [];
    at += 17;
    for (const k of [5, 9, 13]) texts.push(decoder.decode(bytes.subarray(at, at += view.getUint32(head + k, true))));
    ranges.push({ range: keyRange(...texts), limit: view.getUint32(head + 1, true) || undefined, isDescending: bytes[head] === 1 });
  }
  return ranges;
}

// One transaction for all: it takes longer than to read a record.
function readDatabase(store, ranges, then) {
  try {
    const entries = store.database.transaction('entries').objectStore('entries');
    const parts = ranges.map(one => readRange(entries, one));
    entries.transaction.oncomplete = async () => {
      then(await unsealed(store, parts.flatMap(({ keys }) => keys), parts.flatMap(({ values }) => values)));
    };
    entries.transaction.onabort = () => then(null);
  } catch {
    setTimeout(() => then(null));
  }
}

// What it returns is filled by the end of the transaction.
function readRange(entries, { range, limit, isDescending }) {
  const found = { keys: [], values: [] };
  if (range && isDescending) {
    entries.openCursor(range, 'prev').onsuccess = ({ target: { result: cursor } }) => {
      if (!cursor || found.keys.length === limit) return;
      found.keys.push(cursor.key);
      found.values.push(cursor.value);
      cursor.continue();
    };
  } else if (range) {
    entries.getAllKeys(range, limit).onsuccess = ({ target: { result: keys } }) => {
      found.keys = keys;
      if (keys.length > 0) entries.getAll(range, limit).onsuccess = ({ target: { result: values } }) => { found.values = values; };
    };
  }
  return found;
}

// Records whose seal is broken are not there.
async function unsealed(store, keys, values) {
  const plain = await Promise.all(values.map((value, k) => seal.open(store.key, keys[k], value)));
  const isThere = plain.map(value => value !== null);
  if (store.key) sealPlain(store, keys, values).catch(error => console.info(String(error)));
  return packEntries(keys.filter((_, k) => isThere[k]), plain.filter((_, k) => isThere[k]));
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
export function writeStore(store, bytes, then, note = () => {}) {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset), changes = [];
    for (let at = 0; at < bytes.length;) {
      const kind = bytes[at], keyCount = view.getUint32(at + 1, true), valueCount = view.getUint32(at + 5, true);
      const key = decoder.decode(bytes.subarray(at + 9, at + 9 + keyCount));
      at += 9 + keyCount + valueCount;
      changes.push({ key, value: kind === 1 ? bytes.slice(at - valueCount, at) : null, range: kind === 3 ? keyRange(key, '', '') : null });
    }
    if (store instanceof Map) {
      apply(changes, mapEntries(store));
      setTimeout(() => then(true));
      return;
    }
    store.ask(store.seal(changes), changes, sealed => writeDatabase(store, sealed, then, note));
  } catch {
    setTimeout(() => then(false));
  }
}

function apply(changes, entries) {
  for (const { key, value, range } of changes) {
    if (value) entries.put(value, key); else entries.delete(range ?? key);
  }
}

function writeDatabase(store, changes, then, note) {
  try {
    const entries = store.database.transaction('entries', 'readwrite').objectStore('entries');
    apply(changes, entries);
    entries.transaction.oncomplete = () => {
      then(true);
      for (const { key, value } of changes) note(key, value !== null);
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
