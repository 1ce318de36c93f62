// Decrypts a message that the homeserver pushes, in the service worker: with the program of the page's Worker (Sources/Web/EncryptionWorker) and copies of
// its records. Nothing is written, and nothing that the program asks for is asked. The messages are those of Sources/Portable/EncryptionLink.

// Longer than this a notification does not wait.
const decryptMilliseconds = 5000;

// The event in clear text; undefined where its key is not here: keys that came since the last sync are still at the server.
function decrypted(event) {
  const late = new Promise(resolve => setTimeout(resolve, decryptMilliseconds));
  return Promise.race([decryptEvent(event).catch(error => console.info('A push was not decrypted:', String(error))), late]);
}

async function decryptEvent(event) {
  const [session] = await readStore('a/session');
  const machine = session && await machineOf(session);
  if (!machine) return undefined;
  const { room_id: room, ...rest } = event;
  const record = new TextEncoder().encode(JSON.stringify({ events: [{ origin_server_ts: Date.now(), ...rest }] }));
  const [clear] = await machine(linkMessage(3, linkNumber(1), linkBytes(room), linkList([[linkBytes('t/'), linkBytes(record)]])));
  const [found] = clear ? JSON.parse(new TextDecoder().decode(clear)).events : [];
  return found?.type === 'm.room.encrypted' ? undefined : found;
}

// A function that takes a message and gives the records that come back. undefined where the program was never kept, or there is no device.
async function machineOf({ user_id: user, device_id: device }) {
  const file = await caches.match('EncryptionWorker.wasm');
  if (!file || (await readRecords('e/account')).length === 0) return undefined;
  let program = null, said = [];
  const part = (start, count) => new Uint8Array(program.memory.buffer, start, count);
  const random = (start, count) => { crypto.getRandomValues(part(start, count)); return 0; };
  const { instance } = await WebAssembly.instantiate(await file.arrayBuffer(), {
    host: { post(start, count) { said.push(part(start, count).slice()); } },
    wasi_snapshot_preview1: new Proxy({ random_get: random }, { get: (known, name) => known[name] ?? (() => 0) }),
  });
  program = instance.exports;
  program.__wasm_call_ctors();
  async function take(message) {
    const start = program.alloc(message.length);
    part(start, message.length).set(message);
    program.take(start, message.length);
    const records = [], steps = said.map(linkStep);
    said = [];
    for (const step of steps) {
      records.push(...step.records);
      if (step.loads.length === 0) continue;
      const loaded = (await Promise.all(step.loads.map(readRecords))).flat();
      records.push(...await take(linkMessage(1, linkList(loaded.map(({ key, value }) => [linkBytes(key), linkBytes(value)])))));
    }
    return records;
  }
  await take(linkMessage(0, linkBytes(user), linkBytes(device)));
  return take;
}

// ---- What is said

const linkNumber = number => new Uint8Array(Uint32Array.of(number).buffer);

function linkBytes(content) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return linkJoined([linkNumber(bytes.length), bytes]);
}

const linkList = elements => linkJoined([linkNumber(elements.length), ...elements.flat()]);
const linkMessage = (kind, ...parts) => linkJoined([new Uint8Array(BigInt64Array.of(BigInt(Date.now())).buffer), Uint8Array.of(kind), ...parts]);

function linkJoined(parts) {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => { joined.set(part, at); return at + part.length; }, 0);
  return joined;
}

// ---- What is heard

// Of a step the values of records in clear text, and what is to be read.
function linkStep(message) {
  const view = new DataView(message.buffer);
  let at = 0;
  const skip = count => { at += count; };
  const kind = () => view.getUint8(at++);
  const number = () => { skip(4); return view.getUint32(at - 4, true); };
  const bytes = () => { const count = number(); skip(count); return message.subarray(at - count, at); };
  const list = element => Array.from({ length: number() }, element);
  const of = readers => {
    const read = readers[kind()];
    if (!read) throw new Error('a message of another version');
    return read();
  };
  const records = [];
  const keep = () => { bytes(); records.push(bytes()); };
  const outcomes = [bytes, kind, kind];
  const deliveries = [
    () => { number(); bytes(); }, () => { number(); list(keep); }, () => { skip(8); bytes(); }, () => { skip(8); kind(); bytes(); },
    () => { bytes(); list(bytes); }, () => { skip(8); of(outcomes); },
  ];
  // Nothing in the records is encrypted.
  if (kind() !== 0) return { records, loads: [] };
  list(() => of(deliveries));
  list(() => of([() => { bytes(); bytes(); }, bytes]));
  list(() => of(deliveries));
  list(() => { skip(8); kind(); bytes(); bytes(); });
  return { records, loads: list(() => new TextDecoder().decode(bytes())) };
}
