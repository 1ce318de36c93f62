"""The page's IndexedDB as a store: the cases of Tests/StoreCases.json, which the Swift stores pass too."""
import json
import os

from chromium import chromium
from harness import test

NEEDS_BROWSER = True

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "StoreCases.json")

# Packs and unpacks as Sources/Web/WebHost/Host+Storage.swift does, around the functions the page itself uses.
SHIM = """async cases => {
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
  const troubles = [];
  for (const [number, { name, steps }] of cases.entries()) {
    let database = await new Promise(then => openStore('case' + number, then));
    for (const [place, step] of steps.entries()) {
      if (step.write) {
        if (!await new Promise(then => writeStore(database, batch(step.write), then))) troubles.push(`${name}: step ${place} is not written`);
      } else {
        const bytes = await new Promise(then => readStore(database, range(step.read), then));
        const found = bytes && JSON.stringify(entries(bytes)), expected = JSON.stringify(step.expect);
        if (found !== expected) troubles.push(`${name}: step ${place} reads ${found}, not ${expected}`);
      }
      // A page that is closed and opened goes on where it was.
      database.close();
      database = await new Promise(then => openStore('case' + number, then));
    }
    database.close();
  }
  const closed = await new Promise(then => openStore('closed', then));
  closed.close();
  if (await new Promise(then => readStore(closed, range({ prefix: '' }), then)) !== null) troubles.push('a closed store can be read');
  if (await new Promise(then => writeStore(closed, batch([['put', 'a', '1']]), then))) troubles.push('a closed store can be written');
  return troubles;
}"""


# Proves C21
@test("IndexedDB passes the conformance suite of the stores")
async def _(test):
    with open(CASES, encoding="utf-8") as file:
        cases = json.load(file)
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(test.direct + "/")
        troubles = await page.evaluate(SHIM, cases)
    assert len(cases) >= 10 and not troubles, "\n".join(troubles)
