"""The page's IndexedDB as a store: the cases of Tests/StoreCases.json, which the Swift stores pass too."""
import json
import os

from chromium import chromium
from harness import test

NEEDS_BROWSER = True

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "StoreCases.json")

# Packs and unpacks as Sources/Web/WebHost/Host+Storage.swift does, around the functions the page itself uses.
TOOLS = """
  const { openStore, readStore, writeStore } = await import('/store.js');
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const number = n => [n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255];
  const kinds = { put: 1, delete: 2, deleteAll: 3 };
  const batch = operations => new Uint8Array(operations.flatMap(([kind, key, value = '']) => {
    const [k, v] = [key, value].map(text => [...encoder.encode(text)]);
    return [kinds[kind], ...number(k.length), ...number(v.length), ...k, ...v];
  }));
  const range = ({ prefix, after = '', before = '', descending = false, limit = 0 }) => {
    const texts = [prefix, after, before].map(text => [...encoder.encode(text)]);
    return new Uint8Array([descending ? 1 : 0, ...number(limit), ...texts.flatMap(text => number(text.length)), ...texts.flat()]);
  };
  const entries = bytes => {
    const view = new DataView(bytes.buffer), found = [];
    for (let at = 0; at < bytes.length;) {
      const k = view.getUint32(at, true), v = view.getUint32(at + 4, true);
      found.push([decoder.decode(bytes.subarray(at + 8, at + 8 + k)), decoder.decode(bytes.subarray(at + 8 + k, at + 8 + k + v))]);
      at += 8 + k + v;
    }
    return found;
  };
  const opened = name => new Promise(then => openStore(name, then));
  const write = (store, operations) => new Promise(then => writeStore(store, batch(operations), then));
  const read = async (store, ...wanted) => {
    const bytes = await new Promise(then => readStore(store, new Uint8Array(wanted.flatMap(one => [...range(one)])), then));
    return bytes && entries(bytes);
  };
"""

CASE = "async cases => {" + TOOLS + """
  const troubles = [];
  for (const [number, { name, steps }] of cases.entries()) {
    let database = await opened('case' + number);
    for (const [place, step] of steps.entries()) {
      if (step.write) {
        if (!await write(database, step.write)) troubles.push(`${name}: step ${place} is not written`);
      } else {
        const found = JSON.stringify(await read(database, step.read)), expected = JSON.stringify(step.expect);
        if (found !== expected) troubles.push(`${name}: step ${place} reads ${found}, not ${expected}`);
      }
      // A page that is closed and opened goes on where it was.
      database.close();
      database = await opened('case' + number);
    }
    database.close();
  }
  const several = await opened('several');
  await write(several, [['put', 'a/1', 'one'], ['put', 'a/2', 'two'], ['put', 'b/1', 'three'], ['put', 'c/1', 'four']]);
  const found = await read(several, { prefix: 'b/' }, { prefix: 'x/' }, { prefix: 'a/', descending: true }, { prefix: 'c/', limit: 1 });
  if (JSON.stringify(found.flat()) !== '["b/1","three","a/2","two","a/1","one","c/1","four"]') troubles.push(`several ranges are ${JSON.stringify(found)}`);
  several.close();
  const closed = await opened('closed');
  closed.close();
  if (await read(closed, { prefix: '' }) !== null) troubles.push('a closed store can be read');
  if (await write(closed, [['put', 'a', '1']])) troubles.push('a closed store can be written');
  return troubles;
}"""

# Looks at a store as a thief does, and swaps what lies there.
SEALED = "async () => {" + TOOLS + """
  const opening = (name, mode) => new Promise(then => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore('entries');
    request.onsuccess = () => then(request.result.transaction('entries', mode).objectStore('entries'));
  });
  const done = request => new Promise(then => { request.onsuccess = () => then(request.result); });
  const raw = async name => {
    const all = await opening(name, 'readonly'), [keys, values] = await Promise.all([done(all.getAllKeys()), done(all.getAll())]);
    all.transaction.db.close();
    return Object.fromEntries(keys.map((key, k) => [key, values[k]]));
  };
  const isOpen = values => Object.values(values).filter(value => decoder.decode(value).includes('secret')).length;
  const until = async condition => { while (!await condition()) await new Promise(then => setTimeout(then, 20)); };
  const answer = {};

  const store = await opened('sealed');
  await write(store, [['put', 'a', '{"secret":1}'], ['put', 'b', '{"secret":2}'], ['put', 'c', '{"secret":3}']]);
  answer.open = isOpen(await raw('sealed'));
  const lying = await raw('sealed');
  const all = await opening('sealed', 'readwrite');
  lying.c[lying.c.length - 1] ^= 1;
  await Promise.all([done(all.put(lying.b, 'a')), done(all.put(lying.c, 'c'))]);
  all.transaction.db.close();
  answer.swapped = await read(store, { prefix: '' });

  // An earlier version has left so many without a seal; one is written meanwhile.
  const older = await opening('older', 'readwrite');
  for (let k = 0; k < 450; k++) older.put(encoder.encode(`{"secret":${k}}`), 'k' + String(k).padStart(3, '0'));
  await new Promise(then => { older.transaction.oncomplete = then; });
  older.transaction.db.close();
  const upgraded = await opened('older');
  await write(upgraded, [['put', 'k449', '{"secret":"new"}']]);
  answer.first = (await read(upgraded, { prefix: 'k', limit: 1 }))[0][1];
  await until(async () => isOpen(await raw('older')) === 0);
  answer.count = (await read(upgraded, { prefix: '' })).length;
  answer.last = (await read(upgraded, { prefix: 'k449' }))[0][1];

  // Read and written in the order in which it was asked, though sealing takes its time.
  const writes = [];
  for (let k = 0; k < 50; k++) writes.push(write(store, [['put', 'd', String(k).repeat(k % 7 * 2000 + 1)]]), read(store, { prefix: 'd' }));
  const said = await Promise.all(writes);
  answer.order = said.filter((one, k) => k % 2 === 1 && one[0][1] !== String(k >> 1).repeat((k >> 1) % 7 * 2000 + 1)).length;

  // What a page writes when it goes away is written at once, after what waits for its seal.
  const last = [write(store, [['put', 'e', '{"secret":"before"}']])];
  dispatchEvent(new Event('pagehide'));
  last.push(write(store, [['put', 'e', '{"secret":"at the end"}']]));
  await Promise.all(last);
  dispatchEvent(new Event('pageshow'));
  answer.leaving = (await read(store, { prefix: 'e' }))[0][1];
  await until(async () => isOpen(await raw('sealed')) === 0);
  return answer;
}"""


# Proves C21
@test("IndexedDB passes the conformance suite of the stores")
async def _(test):
    with open(CASES, encoding="utf-8") as file:
        cases = json.load(file)
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(test.direct + "/")
        troubles = await page.evaluate(CASE, cases)
    assert len(cases) >= 10 and not troubles, "\n".join(troubles)


@test("what the page keeps is sealed: nothing can be read in IndexedDB, records do not stand for others, and older stores are sealed")
async def _(test):
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(test.direct + "/")
        answer = await page.evaluate(SEALED)
    assert answer == {
        "open": 0, "swapped": [["b", '{"secret":2}']], "first": '{"secret":0}', "count": 450, "last": '{"secret":"new"}', "order": 0,
        "leaving": '{"secret":"at the end"}',
    }, answer
