// The Worker that has the machine of end-to-end encryption (Sources/Web/EncryptionWorker), so that no key and no arithmetic of it is on the page's
// thread. It has no network and no store: it takes messages and answers with messages, in order (EncryptionRequest, EncryptionReport).

import { fetchProgram, keepTrying } from './program.js';

let program = null;
const waiting = [];

const bytesAt = (start, count) => new Uint8Array(program.memory.buffer, start, count);

const imports = {
  host: {
    post(start, count) {
      const message = bytesAt(start, count).slice();
      postMessage(message, [message.buffer]);
    },
  },
  wasi_snapshot_preview1: new Proxy({
    random_get(start, count) {
      crypto.getRandomValues(bytesAt(start, count));
      return 0;
    },
    // What the C library of a debug build asks for.
    fd_write(_, vectors, count, written) {
      const places = new Uint32Array(program.memory.buffer, vectors, 2 * count);
      const bytes = [...places.keys()].filter(k => k % 2 === 0).map(k => bytesAt(places[k], places[k + 1]));
      console.error(bytes.map(part => new TextDecoder().decode(part)).join(''));
      new Uint32Array(program.memory.buffer, written, 1)[0] = bytes.reduce((sum, part) => sum + part.length, 0);
      return 0;
    },
  }, { get: (known, name) => known[name] ?? (() => 0) }),
};

function take(message) {
  const start = program.alloc(message.length);
  bytesAt(start, message.length).set(message);
  program.take(start, message.length);
}

onmessage = ({ data }) => { if (program) take(data); else waiting.push(data); };

// While ./run builds it: the page says so where somebody waits for it.
function onBuilding() {
  postMessage('building');
  return () => postMessage('built');
}

async function start() {
  const answer = await keepTrying(() => fetchProgram(new URL('EncryptionWorker.wasm', import.meta.url), onBuilding));
  if (!answer.ok) throw new Error('status ' + answer.status);
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), imports);
  program = instance.exports;
  program.__wasm_call_ctors();
  while (waiting.length > 0) take(waiting.shift());
}

// The page hears of it by the Worker's error event.
start().catch(error => setTimeout(() => { throw error; }));
