// A program of Sources/Web (WebAssembly): its memory, the objects that it holds by number, and the ways in and out. It knows nothing of pages:
// what a program may ask for is done by the services that are given to it (host-protocol.txt says which file serves which call). A page can have
// any number of programs. Documentation/Decisions/0017-the-page-host.md

import { fetchNow } from './fetched.js';
import { imports, laterFiles } from './host-protocol.js';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

const laterScripts = new Map();

// Loads a script when it is first needed. Returns a function that runs `ask` with it, in the order of the calls. All callers of a file
// share one such function, so that no picture is shown before the access to it that was set earlier.
export function later(file, load) {
  const known = laterScripts.get(file) ?? fetchedLater(load);
  laterScripts.set(file, known);
  return known;
}

function fetchedLater(load) {
  let script = null;
  const waiting = [];
  return ask => {
    if (script !== null) { ask(script); return; }
    waiting.push(ask);
    if (waiting.length > 1) return;
    keepTrying(load).then(loaded => {
      // What is asked meanwhile stands behind.
      while (waiting.length > 0) {
        try { waiting.shift()(loaded); } catch (error) { console.error(error); }
      }
      script = loaded;
    });
  };
}

// Without a network it tries again, ever less often: somebody waits for it.
export async function keepTrying(load) {
  for (let pause = 1000; ; pause = Math.min(2 * pause, 30_000)) {
    try { return await load(); } catch (error) { console.info(String(error)); }
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}

// The answer for a program's file. While ./run builds it behind the running server, that asks to come again; `onBuilding` is called once, and what it
// returns when that is over.
export async function fetchProgram(url, onBuilding = () => {}) {
  let answer = await fetchNow(url);
  const over = answer.status === 503 ? onBuilding() : undefined;
  while (answer.status === 503) {
    const seconds = Math.min(Math.max(Number(answer.headers.get('retry-after')) || 10, 1), 60);
    await new Promise(resolve => setTimeout(resolve, 1000 * seconds));
    answer = await fetch(url);
  }
  over?.();
  return answer;
}

async function instantiate(url, given, onBuilding) {
  const answer = await fetchProgram(url, onBuilding);
  if (!answer.ok) throw new Error('status ' + answer.status);
  if (answer.headers.get('content-type')?.startsWith('application/wasm')) return WebAssembly.instantiateStreaming(answer, given);
  return WebAssembly.instantiate(await answer.arrayBuffer(), given);
}

// What the C library of a debug build asks for: it prints why the program stops.
const printing = program => ({
  fd_write(_, vectors, count, written) {
    const places = program.words(vectors, 2 * count);
    let bytes = 0;
    for (let k = 0; k < places.length; k += 2) {
      console.error(program.text(places[k], places[k + 1]));
      bytes += places[k + 1];
    }
    program.words(written, 1)[0] = bytes;
    return 0;
  },
  fd_close: () => 0,
  fd_seek: () => 0,
  fd_fdstat_get: () => 0,
});

// In the place of functions that lie in a part of the program that is not there yet.
const missing = new Proxy({}, { get: () => () => { throw new Error('a part of the program is missing'); } });

export class Program {
  objects = new Map();         // id -> { stop() }, ids given by the program

  #services;
  #onTrouble;
  #imports;
  #parts = new Map();          // name -> { module, loading } of the parts that are not there yet
  #later = {};
  #exports = null;
  #int32s = null;              // views of the memory; growing the memory detaches them
  #bytes = null;
  #floats = null;
  #depth = 0;                  // calls into the program that are on the stack
  #isDead = false;             // a trap happened: the program's state is broken
  #waiting = [];               // events that came while the program was running

  // `root`: the element that it draws into; with a `frame` it has a page around it, which is the other end of that channel.
  // `services`: functions of the program that return the calls they serve, by name. `onTrouble(kind, error)`: 'unreachable', 'outdated',
  // 'crashed', or 'building': it goes on by itself, and calls what that returned when it does.
  constructor(url, root, services, onTrouble) {
    this.url = url;
    this.root = root;
    this.frame = root.frame;
    this.#services = services;
    this.#onTrouble = onTrouble;
    for (const [file, load] of Object.entries(laterFiles)) {
      let calls = null;
      const script = later(file, load);
      this.#later[file] = ask => script(({ service }) => ask(calls ??= service(this)));
    }
    const host = imports(this, Object.assign({}, ...[ownService, ...services].map(service => service(this))));
    this.#imports = new Proxy({ host, wasi_snapshot_preview1: printing(this) }, { get: (known, module) => known[module] ?? missing });
  }

  // Another program in the same page, with the same services. This one goes on without it.
  beside(url, root, onUnreachable) {
    return new Program(url, root, this.#services, (kind, error) => kind === 'unreachable' ? onUnreachable() : this.#onTrouble(kind, error));
  }

  // Fetches and starts it; `ready` is a promise of what it needs at once. False if that failed.
  async run(ready) {
    try {
      const [{ instance, module }] = await Promise.all([this.#instantiate(this.url, this.#imports), ready]);
      this.#exports = instance.exports;
      this.#findParts(module);
    } catch (error) {
      console.error(error);
      this.#onTrouble('unreachable', error);
      return false;
    }
    this.#enter(() => {
      this.#exports.__wasm_call_ctors();
      this.#exports.start();
      return 0;
    });
    return true;
  }

  // ---- Parts of the program that lie in files of their own (Scripts/split-program)

  // The program imports the functions of a part from the module 'NAME.PART.wasm#VERSION'. One that was not cut has no parts.
  #findParts(module) {
    for (const { module: from } of WebAssembly.Module.imports(module)) {
      const [, part] = /^[^.]+\.([^.]+)\.wasm#/.exec(from) ?? [];
      if (part) this.#parts.set(part, { from, loading: null });
    }
  }

  partMissing(error) {
    console.error(error);
    // The server has a newer program by now, whose parts do not fit this one.
    this.#onTrouble(error instanceof WebAssembly.LinkError ? 'outdated' : 'unreachable', error);
  }

  hasPart(name) { return !this.#parts.has(name); }

  // Fails if the file cannot be had, or is cut from another version of the program.
  loadPart(name) {
    const part = this.#parts.get(name);
    if (part === undefined) return Promise.resolve();
    part.loading ??= this.#addPart(part.from).then(() => { this.#parts.delete(name); }).finally(() => { part.loading = null; });
    return part.loading;
  }

  // It imports memory, table and functions of the program, and puts its own functions into the table, in the place of those that were missing.
  #addPart(from) {
    const [file, version] = from.split('#');
    const program = file.replace(/\.[^.]+(?=\.wasm$)/, '') + '#' + version;
    // A part of another version wants functions of a program that is not this one: that they are not there is a LinkError.
    const given = new Proxy({ [program]: this.#exports }, { get: (known, module) => known[module] ?? {} });
    return this.#instantiate(new URL(file, this.url), given);
  }

  #instantiate(url, given) { return instantiate(url, given, () => this.#onTrouble('building')); }


  // Behind the first screen, so that they are there when they are needed, or the network is not. One after the other, as
  // Web/program-parts.txt has them: a slow network is not shared by the room and what is needed after it. The page for administrators
  // is for few, and without a network it shows nothing.
  async loadParts() {
    for (const name of [...this.#parts.keys()].filter(name => name !== 'administration')) await this.loadPart(name).catch(() => {});
  }

  // Fetches all services that are fetched later, so that they are there without a network.
  fetchServices() { for (const ask of Object.values(this.#later)) ask(() => {}); }

  // ---- In

  // Calls the closure of that number: with a text or bytes, if there are any.
  dispatch(id, code = 0, x = 0, y = 0, content = null) {
    return this.#enter(() => {
      const exports = this.#exports;
      if (content === null) return exports.dispatch(id, code, x, y, 0, 0);
      const bytes = typeof content === 'string' ? encoder.encode(content) : content;
      const start = exports.alloc(bytes.length);
      this.#look();
      this.#bytes.set(bytes, start);
      const reply = exports.dispatch(id, code, x, y, start, bytes.length);
      exports.dealloc(start);
      return reply;
    });
  }

  // What the DOM fires while the program runs (blur on removal, focus) waits its turn: the program is never entered in the middle of a change.
  #enter(run) {
    if (this.#isDead) return 0;
    if (this.#depth > 0) {
      this.#waiting.push(run);
      return 0;
    }
    let reply = 0;
    this.#depth++;
    try {
      reply = run();
    } catch (error) {
      this.#isDead = true;
      console.error('The program stopped:', error);
      this.#onTrouble('crashed', error);
    } finally {
      this.#depth--;
    }
    while (this.#waiting.length > 0 && !this.#isDead) this.#enter(this.#waiting.shift());
    return reply;
  }

  // ---- Out: what host-protocol.js reads arguments with

  #look() {
    const { buffer } = this.#exports.memory;
    if (this.#bytes?.buffer === buffer) return;
    this.#int32s = new Int32Array(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#floats = new Float32Array(buffer);
  }

  // Views, for the length of a call.
  words(start, count) {
    this.#look();
    return this.#int32s.subarray(start >> 2, (start >> 2) + count);
  }

  floats(start, count) {
    this.#look();
    return this.#floats.subarray(start >> 2, (start >> 2) + count);
  }

  bytes(start, count) {
    this.#look();
    return this.#bytes.subarray(start, start + count);
  }

  copy(start, count) { return this.bytes(start, count).slice(); }

  text(start, count) { return count > 0 ? decoder.decode(this.bytes(start, count)) : ''; }

  texts(start, count) { return this.text(start, count).split('\0'); }

  // Writes a text where the program asked for it; the length tells it whether the room was enough.
  give(text, out, capacity) {
    if (text === null || text === undefined) return -1;
    const encoded = encoder.encode(text);
    if (encoded.length <= capacity) this.bytes(out, encoded.length).set(encoded);
    return encoded.length;
  }

  // Asks a service that is fetched later. Until it is there something stands in for the object `id`: what is released meanwhile is not done.
  ask(file, name, id, values) {
    let standIn = null;
    if (id !== 0 && !this.objects.has(id)) this.objects.set(id, standIn = {});
    this.#later[file](calls => {
      if (id !== 0 && !this.objects.has(id)) return;
      if (standIn !== null) this.objects.delete(id);
      calls[name](...values);
    });
  }
}

// What a program needs wherever it is.
function ownService(program) {
  const { objects } = program;
  const hold = (id, stop) => objects.set(id, { stop });
  return {
    release(id) {
      const object = objects.get(id);
      objects.delete(id);
      object?.stop?.();
    },
    log: line => console.log(line),
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    random_key: () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))),
    // Browsers give so much at a time.
    random(bytes) { for (let k = 0; k < bytes.length; k += 65536) crypto.getRandomValues(bytes.subarray(k, k + 65536)); },
    timer(id, milliseconds) {
      const timer = setTimeout(() => { objects.delete(id); program.dispatch(id); }, milliseconds);
      hold(id, () => clearTimeout(timer));
    },
    // Soon, if the page shows no frames.
    next_frame(id) {
      const stop = () => { clearTimeout(timer); cancelAnimationFrame(frame); };
      const done = () => { stop(); objects.delete(id); program.dispatch(id); };
      const timer = setTimeout(done, 100), frame = requestAnimationFrame(done);
      hold(id, stop);
    },
    part_is_missing: name => program.hasPart(name) ? 0 : 1,
    part_load(id, name) { program.loadPart(name).then(() => program.dispatch(id), error => program.partMissing(error)); },
  };
}
