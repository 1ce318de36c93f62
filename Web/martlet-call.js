// MartletCall: sessions of a Martlet server's calls, in any page. `import { MartletCall } from '…/martlet-call.js'` is all it needs; the
// files lie side by side: this one, calls.js, MartletCall.wasm. Types: martlet-call.d.ts; how to use it: Documentation/Calls.md.

import { listDevices, openMedia, openSocket } from './calls.js';

const socketPath = '/_martlet/call/v1/socket';
const words = {
  unauthorized: 'The token is expired, broken, or for another session.', forbidden: 'The role of this connection does not allow that.',
  not_found: 'There is no such stream or connection any more.', invalid: 'That is not possible here, or not now.',
  limit: 'Too much of that for now.', too_large: 'That is too long.', gone: 'The server does not know this connection any more.',
  replaced: 'The connection goes on elsewhere.', forced: 'A moderator or the application has ended this connection.',
  ended: 'The session has ended.', too_slow: 'This connection was too slow.', shutting_down: 'The server is shutting down.',
  left: 'The session was left.', unreachable: 'The call server cannot be reached.', connection_lost: 'The connection to the call server was lost.',
  not_connected: 'The call is not connected.', media_failed: 'Camera, microphone or the connection for media did not work.',
  media_refused: 'Camera or microphone are not allowed for this page.', media_missing: 'There is no such camera or microphone.',
  not_loaded: 'The files of MartletCall could not be loaded.', unsupported: 'This browser cannot make calls, or the page is not on HTTPS.',
  crashed: 'Something went wrong in MartletCall.',
};

export class CallError extends Error {
  constructor(code, message) {
    super(message || words[code] || `The call server said: ${code}.`);
    this.name = 'CallError';
    this.code = code;
  }
}

// ---- The program

let compiled = null;

function compile() {
  compiled ??= fetch(new URL('MartletCall.wasm', import.meta.url)).then(async answer => {
    if (!answer.ok) throw new Error('status ' + answer.status);
    return WebAssembly.compile(await answer.arrayBuffer());
  }).catch(error => {
    compiled = null;
    notLoaded(error);
  });
  return compiled;
}

function notLoaded(error) { throw new CallError('not_loaded', `${words.not_loaded} (${error.message})`); }

const encoder = new TextEncoder(), decoder = new TextDecoder();
// A debug build prints why it stops; here it cannot.
const printing = { fd_write: () => 8, fd_close: () => 8, fd_seek: () => 8, fd_fdstat_get: () => 8 };

// One instance of it. The page's own code never runs inside: what the program says waits until it has returned.
class Program {
  #wasm = null;
  #objects = new Map();
  #inputs = [];
  #said = [];
  #isInside = false;
  #channel = 0;
  media = null;

  constructor(hear) { this.hear = hear; }

  async open() {
    const { exports } = await WebAssembly.instantiate(await compile(), { host: this.#host(), wasi_snapshot_preview1: printing }).catch(notLoaded);
    this.#wasm = exports;
    this.#enter(() => { exports.__wasm_call_ctors(); exports.start(); });
  }

  say(message) { this.#dispatch(this.#channel, 0, JSON.stringify(message)); }

  stop() {
    this.#wasm = null;
    for (const object of this.#objects.values()) object.stop();
    this.#objects.clear();
  }

  #enter(run) {
    this.#inputs.push(run);
    if (this.#isInside) return;
    this.#isInside = true;
    try {
      while (this.#inputs.length > 0 && this.#wasm) this.#inputs.shift()();
    } catch (error) {
      console.error('MartletCall:', error);
      this.stop();
      this.#said.push({ event: 'closed', code: 'crashed' });
    }
    this.#isInside = false;
    for (const message of this.#said.splice(0)) this.hear(message);
  }

  #dispatch(id, code, text = '') {
    this.#enter(() => {
      const bytes = encoder.encode(text), p = this.#wasm.alloc(bytes.length);
      new Uint8Array(this.#wasm.memory.buffer, p, bytes.length).set(bytes);
      this.#wasm.dispatch(id, code, 0, 0, p, bytes.length);
      this.#wasm.dealloc(p);
    });
  }

  #text(p, n) { return decoder.decode(new Uint8Array(this.#wasm.memory.buffer, p, n)); }

  // As host-protocol.txt has them.
  #host() {
    const hold = (id, object) => { this.#objects.set(id, object); };
    const tell = id => (code, text) => { if (this.#objects.has(id)) this.#dispatch(id, code, text); };
    return {
      monotonic: () => performance.now(),
      random: (p, n) => { crypto.getRandomValues(new Uint8Array(this.#wasm.memory.buffer, p, n)); },
      timer: (id, ms) => {
        const timer = setTimeout(() => { this.#objects.delete(id); this.#dispatch(id, 0); }, ms);
        hold(id, { stop: () => clearTimeout(timer) });
      },
      release: id => {
        this.#objects.get(id)?.stop();
        this.#objects.delete(id);
      },
      channel_open: id => { this.#channel = id; },
      channel_post: (_, p, n) => { this.#said.push(JSON.parse(this.#text(p, n))); },
      socket_open: (id, p, n) => hold(id, openSocket(this.#text(p, n), tell(id))),
      socket_send: (id, p, n) => this.#objects.get(id)?.say(this.#text(p, n)),
      media_open: id => hold(id, this.media = openMedia(event => tell(id)(0, JSON.stringify(event)))),
      media_do: (id, p, n) => this.#objects.get(id)?.act(JSON.parse(this.#text(p, n))),
    };
  }
}

// ---- Elements

// A video element, or one that gets a video of its own.
function videoIn(element) {
  if (element instanceof HTMLVideoElement) return { video: element, take() {} };
  const video = document.createElement('video');
  video.style.cssText = 'display:block;width:100%;height:100%;object-fit:contain';
  element?.append(video);
  return { video, take: () => video.remove() };
}

function show(video, stream) {
  video.playsInline = video.autoplay = true;
  if (video.srcObject === stream) return;
  video.srcObject = stream;
  video.play().catch(() => {});
}

const idOf = thing => typeof thing === 'string' ? thing : thing?.id;

class CallPublisher extends EventTarget {
  #call; #source; #place; #state = {};

  constructor(call, source, element) {
    super();
    this.#call = call;
    this.#source = source;
    this.#place = videoIn(element);
    this.#place.video.muted = true;
  }

  get element() { return this.#place.video; }
  get stream() { return this.#state.stream ?? null; }
  get audio() { return this.#state.hasAudio ?? false; }
  get video() { return this.#state.hasVideo ?? false; }
  get isMutedByModerator() { return this.#state.muted ?? false; }

  setAudio(on) { return this.#call._ask('update', { source: this.#source, audio: Boolean(on) }); }
  setVideo(on) { return this.#call._ask('update', { source: this.#source, video: Boolean(on) }); }
  unpublish() { return this.#call._ask('unpublish', { source: this.#source }); }

  async switchCamera(device) {
    const media = this.#call._media;
    let id = idOf(device);
    if (!id) {
      const cameras = (await listDevices()).filter(({ kind }) => kind === 'camera').map(camera => camera.id);
      id = cameras[(cameras.indexOf(media?.device(this.#source, 'video')) + 1) % cameras.length];
    }
    await this.#swap('video', id);
    return id;
  }
  switchMicrophone(device) { return this.#swap('audio', idOf(device)); }

  async #swap(kind, id) {
    const media = this.#call._media;
    if (!media) throw new CallError('not_connected');
    try {
      await media.swap(this.#source, kind, id);
    } catch (error) {
      throw new CallError(error.name === 'NotAllowedError' ? 'media_refused' : 'media_missing');
    }
  }

  // Of the class itself.
  _changed(state, own) {
    const old = this.#state;
    this.#state = state ?? {};
    if (state === undefined) {
      this.#place.video.srcObject = null;
      this.#place.take();
      this.dispatchEvent(new CustomEvent('ended'));
      return;
    }
    if (own) show(this.#place.video, own);
    if (state.muted && !old.muted) this.dispatchEvent(new CustomEvent('muted'));
    this.dispatchEvent(new CustomEvent('changed'));
  }
}

class CallSubscriber extends EventTarget {
  #call; #place; #wanted; #isOver = false;

  constructor(call, stream, element, { audio = true, video = true, width, height, frameRate } = {}) {
    super();
    this.#call = call;
    this.stream = stream;
    this.#place = videoIn(element);
    this.#wanted = { audio, video, width, height, frameRate };
    this.#place.video.muted = !audio;
    this.seen = new Promise(done => this.#place.video.addEventListener('loadeddata', () => done(), { once: true }));
  }

  get element() { return this.#place.video; }
  get audio() { return this.#wanted.audio; }
  get video() { return this.#wanted.video; }

  setAudio(on) {
    this.#place.video.muted = !on;
    return this.#prefer({ audio: Boolean(on) });
  }
  setVideo(on) { return this.#prefer({ video: Boolean(on) }); }
  setSize(width, height) { return this.#prefer({ width: Math.round(width), height: Math.round(height) }); }
  async unsubscribe() {
    if (this.#isOver) return;
    this._end();
    await this.#call._unsubscribe(this);
  }

  #prefer(change) {
    this.#wanted = { ...this.#wanted, ...change };
    return this._tell();
  }

  // Of the class itself.
  _tell() { return this.#call._ask('prefer', { stream: this.stream.id, ...this.#wanted }); }
  _show(media) { if (!this.#isOver) show(this.#place.video, media); }
  _end() {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#place.video.srcObject = null;
    this.#place.take();
    this.dispatchEvent(new CustomEvent('ended'));
  }
}

// ---- The call

export class MartletCall extends EventTarget {
  #options;
  #program = null;
  #state = 'idle';
  #connection = null;
  #isRelayed = false;
  #connections = new Map();
  #streams = new Map();
  #publishers = new Map();
  #subscribers = new Map();
  #tracks = new Map();
  #speaker = null;
  #recording = null;
  #isMuteOfAllActive = false;
  #waiting = new Map();
  #number = 0;
  #source = 0;
  #unlisten = new AbortController();

  static devices() { return listDevices(); }
  static get isSupported() { return Boolean(globalThis.RTCPeerConnection && navigator.mediaDevices && globalThis.WebAssembly); }

  constructor({ url, session, token }) {
    super();
    this.#options = { url: socketAddress(url), session: String(session), token: String(token) };
  }

  get state() { return this.#state; }
  get connection() { return this.#connection; }
  get isRelayed() { return this.#isRelayed; }
  get connections() { return [...this.#connections.values()]; }
  get streams() { return [...this.#streams.values()]; }
  get speaker() { return this.#streams.get(this.#speaker) ?? null; }
  get recording() { return this.#recording; }
  get isMuteOfAllActive() { return this.#isMuteOfAllActive; }

  async connect() {
    if (this.#state !== 'idle') throw new CallError('invalid', 'A call connects once; make a new one.');
    if (!MartletCall.isSupported) throw new CallError('unsupported');
    this.#state = 'connecting';
    const program = new Program(message => this.#heard(message));
    try {
      await program.open();
      if (this.#state !== 'connecting') throw new CallError('left');
      this.#program = program;
      this.#listen();
      await this._ask('connect', this.#options);
    } catch (error) {
      this.#close(error.code ?? 'crashed', false);
      throw error;
    }
    return this.#connection;
  }

  async disconnect() {
    if (this.#program) await this._ask('leave').catch(() => {});
    this.#close('left');
  }

  devices() { return listDevices(); }

  async publish(element, { audio = true, video = true, name = '', source = 'camera', camera, microphone } = {}) {
    if (!this.#program) throw new CallError('not_connected');
    const number = ++this.#source, isGiven = source instanceof MediaStream;
    const kind = isGiven ? 'custom' : source === 'screen' ? 'screen' : video ? 'camera' : 'microphone';
    this._media?.wish(number, isGiven ? { stream: source } : { camera: idOf(camera), microphone: idOf(microphone) });
    const publisher = new CallPublisher(this, number, element);
    this.#publishers.set(number, publisher);
    try {
      await this._ask('publish', { source: number, kind, name: String(name), audio: Boolean(audio), video: Boolean(video) });
    } catch (error) {
      this.#publication(number, undefined);
      throw error;
    }
    return publisher;
  }

  async subscribe(stream, element, options) {
    const known = this.#streams.get(idOf(stream));
    if (!known) throw new CallError('not_found');
    this.#subscribers.get(known.id)?._end();
    const subscriber = new CallSubscriber(this, known, element, options);
    this.#subscribers.set(known.id, subscriber);
    const track = this.#tracks.get(known.id);
    if (track) subscriber._show(this._media?.stream(track));
    try {
      await this._ask('subscribe', { stream: known.id });
      // Also where nothing is wished for: an earlier subscription may have wished for something.
      await subscriber._tell();
    } catch (error) {
      subscriber._end();
      if (this.#subscribers.get(known.id) === subscriber) this.#subscribers.delete(known.id);
      throw error;
    }
    return subscriber;
  }

  signal(signal = {}) {
    const { kind = '', data = '' } = signal, to = 'to' in signal ? String(idOf(signal.to) ?? '') : undefined;
    return this._ask('signal', { kind: String(kind), data: String(data), to });
  }
  forceMute(stream) { return this._ask('mute', { stream: idOf(stream) }); }
  muteAll({ active = true, except = [] } = {}) { return this._ask('muteAll', { active, except: except.map(idOf) }); }
  forceUnpublish(stream) { return this._ask('forceUnpublish', { stream: idOf(stream) }); }
  forceDisconnect(connection) { return this._ask('disconnect', { connection: idOf(connection) }); }
  startRecording() { return this._ask('record', { on: true }); }
  stopRecording() { return this._ask('record', { on: false }); }

  // ---- Of the classes here

  get _media() { return this.#program?.media ?? null; }

  _ask(name, members = {}) {
    if (!this.#program) return Promise.reject(new CallError('not_connected'));
    const number = ++this.#number;
    return new Promise((resolve, refuse) => {
      this.#waiting.set(number, { resolve, refuse });
      this.#program.say({ ...members, do: name, number });
    });
  }

  async _unsubscribe(subscriber) {
    if (this.#subscribers.get(subscriber.stream.id) !== subscriber) return;
    this.#subscribers.delete(subscriber.stream.id);
    this.#tracks.delete(subscriber.stream.id);
    if (this.#streams.has(subscriber.stream.id)) await this._ask('unsubscribe', { stream: subscriber.stream.id });
  }

  // ---- What the program says

  #listen() {
    const { signal } = this.#unlisten;
    addEventListener('online', () => this._ask('network').catch(() => {}), { signal });
    addEventListener('pagehide', () => this.disconnect(), { signal });
  }

  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  #heard({ answer, code, message, event, ...detail }) {
    if (answer !== undefined) {
      const waiting = this.#waiting.get(answer);
      this.#waiting.delete(answer);
      if (code === undefined) waiting?.resolve(); else waiting?.refuse(new CallError(code, message));
      return;
    }
    if (event === 'closed') this.#close(code, true, message);
    else this.#events[event]?.(detail);
  }

  #events = {
    connected: detail => this.#connected('connected', detail),
    reconnected: detail => this.#connected('reconnected', detail),
    reconnecting: () => {
      this.#state = 'reconnecting';
      this.#tell('reconnecting', {});
    },
    connectionCreated: ({ connection }) => {
      this.#connections.set(connection.id, Object.freeze(connection));
      this.#tell('connectionCreated', { connection });
    },
    connectionChanged: ({ connection }) => {
      Object.freeze(connection);
      if (connection.id === this.#connection?.id) this.#connection = connection; else this.#connections.set(connection.id, connection);
      this.#tell('connectionChanged', { connection });
    },
    connectionDestroyed: ({ connection: id }) => {
      const connection = this.#connections.get(id);
      this.#connections.delete(id);
      if (connection) this.#tell('connectionDestroyed', { connection });
    },
    streamCreated: ({ stream }) => {
      this.#streams.set(stream.id, stream);
      this.#tell('streamCreated', { stream });
    },
    streamChanged: ({ stream: changed }) => {
      const stream = Object.assign(this.#streams.get(changed.id) ?? changed, changed);
      this.#tell('streamChanged', { stream });
    },
    streamDestroyed: ({ stream: id }) => {
      const stream = this.#streams.get(id);
      this.#streams.delete(id);
      this.#tracks.delete(id);
      this.#subscribers.get(id)?._end();
      this.#subscribers.delete(id);
      if (stream) this.#tell('streamDestroyed', { stream });
    },
    track: ({ stream, name }) => {
      this.#tracks.set(stream, name);
      this.#subscribers.get(stream)?._show(this._media?.stream(name));
    },
    publication: ({ source, publication }) => this.#publication(source, publication),
    speaker: ({ stream }) => {
      this.#speaker = stream ?? null;
      this.#tell('speaker', { stream: this.speaker });
    },
    recording: ({ archive }) => this.#recorded(archive ?? null),
    muteAll: ({ active }) => {
      this.#isMuteOfAllActive = active;
      this.#tell('muteAll', { active });
    },
    signal: ({ kind, data, from }) => this.#tell('signal', { kind, data, from: from === undefined ? null : this.#who(from) }),
    videoDisabled: ({ stream, reason }) => this.#tell('videoDisabled', { stream: this.#streams.get(stream), reason }),
    videoEnabled: ({ stream, reason }) => this.#tell('videoEnabled', { stream: this.#streams.get(stream), reason }),
  };

  // Who sent a signal may be gone by now.
  #who(id) { return this.#connections.get(id) ?? (id === this.#connection?.id ? this.#connection : { id, data: '', role: 'publisher', created: 0 }); }

  #connected(type, { connection, relayed }) {
    this.#state = 'connected';
    this.#connection = Object.freeze(connection);
    this.#isRelayed = relayed;
    this.#tell(type, { connection });
  }

  #recorded(archive) {
    if (archive === this.#recording) return;
    const old = this.#recording;
    this.#recording = archive;
    if (archive === null) this.#tell('recordingStopped', { archive: old }); else this.#tell('recordingStarted', { archive });
  }

  #publication(source, publication) {
    const publisher = this.#publishers.get(source);
    if (!publisher) return;
    const wasMuted = publisher.isMutedByModerator;
    if (publication === undefined) this.#publishers.delete(source);
    publisher._changed(publication, publication && this._media?.stream('own/' + source));
    if (publication?.muted && !wasMuted) this.#tell('muted', { publisher });
  }

  #close(code, isTold = true, message = undefined) {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#unlisten.abort();
    const error = new CallError(code, message);
    for (const { refuse } of this.#waiting.values()) refuse(error);
    this.#waiting.clear();
    for (const source of [...this.#publishers.keys()]) this.#publication(source, undefined);
    for (const subscriber of this.#subscribers.values()) subscriber._end();
    this.#subscribers.clear();
    this.#program?.stop();
    this.#program = null;
    // Where nobody came in, `connect` says why.
    if (isTold && this.#connection !== null) this.#tell('closed', { code, message: error.message });
  }
}

// Of a server (https://…), or of the socket itself (wss://…).
function socketAddress(url) {
  const address = new URL(url, location.href);
  if (address.protocol === 'http:' || address.protocol === 'https:') {
    address.protocol = address.protocol.replace('http', 'ws');
    address.pathname = socketPath;
  }
  if (address.protocol !== 'ws:' && address.protocol !== 'wss:') throw new CallError('invalid', 'The url is no address of a server.');
  return address.href;
}
