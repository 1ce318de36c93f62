// Cameras, tracks and peer connections: what the program says is done in order, peer connection by peer connection; it decides, this holds
// the browser's objects. Effects and what is told of them: MediaEffect and MediaInput of the module CallCore. `connect` makes peer connections.

const pictures = { camera: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } } };
// What a router chooses from for each who watches: a quarter, half and all of the width.
const layers = [
  { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 }, { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: 'f', maxBitrate: 1_500_000 },
];
// A picture of 320 has one worth sending, one of 640 two.
const layersFor = width => {
  const fitting = layers.slice(width >= 960 ? 0 : width >= 480 ? 1 : 2);
  return fitting.length > 1 ? fitting : undefined;
};
// What is told goes by number, in MediaInput's order.
const iceStates = { checking: 0, connected: 1, completed: 1, disconnected: 2, failed: 3 };
const events = { captured: 1, captureFailed: 2, captureEnded: 3, described: 4, remoteSet: 5, failed: 6, candidate: 7, ice: 8, trackArrived: 9, devices: 10, floats: 11 };

export function openMedia(hear, connect = options => new RTCPeerConnection(options)) {
  const tell = ({ event, ...rest }) => hear({ event: events[event], ...rest });
  const sources = new Map(), peers = new Map(), streams = new Map();
  // What the page said of sources before they are opened: `stream`, or the devices `camera` and `microphone`.
  const wishes = new Map();
  // What the person chose before, of sources without a wish: `camera` and `microphone`, as far as they are there.
  let preferred = {};
  let sendsLayers = false;

  // A remote or local stream, under the name by which it is shown.
  const stream = name => streams.get(name) ?? streams.set(name, new MediaStream()).get(name);
  const remote = (peer, name) => peer + '/' + name;
  // What is heard comes from there; empty for the browser's choice.
  let loudspeaker = '';
  const aim = () => [...document.querySelectorAll('video')].filter(video => !video.muted && video.srcObject?.getAudioTracks().length)
    .forEach(video => video.sinkId === loudspeaker || video.setSinkId?.(loudspeaker).catch(error => console.warn('Another loudspeaker:', error.name)));

  async function open(kind, audio, video, wish) {
    if (kind === 'given') return only(wish?.stream, audio, video);
    if (kind === 'screen') return navigator.mediaDevices.getDisplayMedia({ audio, video: true });
    const { camera, microphone } = wish ?? preferred, by = wish ? exactly : ifThere;
    const wanted = {
      audio: audio && microphone ? await by(microphone) : audio,
      video: video && kind === 'camera' ? { ...pictures.camera, ...await by(camera) } : false,
    };
    try {
      return await navigator.mediaDevices.getUserMedia(wanted);
    } catch (error) {
      // Without a camera one can still talk.
      if (!wanted.audio || !wanted.video || error?.name === 'NotAllowedError') throw error;
      return navigator.mediaDevices.getUserMedia({ audio: true });
    }
  }

  const actions = {
    async capture({ source, kind, device }) {
      // A camera may be added to a microphone.
      const before = sources.get(source) ?? null;
      sources.set(source, before);
      try {
        const more = await open(device, kind !== 'video', kind !== 'audio', wishes.get(source)), taken = before ?? more;
        if (!sources.has(source)) { for (const track of more.getTracks()) track.stop(); return; }
        sources.set(source, taken);
        for (const track of more.getTracks()) { taken.addTrack(track); watch(track, source); }
        const [picture] = taken.getVideoTracks();
        const shown = stream('own/' + source);
        if (picture) shown.addTrack(picture);
        const { width = 0, height = 0 } = picture?.getSettings() ?? {};
        tell({ event: 'captured', source, stream: taken.id, audio: taken.getAudioTracks().length, video: picture ? 1 : 0, width, height });
      } catch (error) {
        if (!before) sources.delete(source);
        tell({ event: 'captureFailed', source, reason: reasons[error?.name] ?? 0 });
      }
    },
    release({ source }) {
      for (const track of sources.get(source)?.getTracks() ?? []) track.stop();
      sources.delete(source);
      wishes.delete(source);
      streams.delete('own/' + source);
    },
    enable({ source, kind, on }) {
      for (const track of sources.get(source)?.getTracks() ?? []) if (track.kind === kind) track.enabled = on;
    },
    layers({ on }) { sendsLayers = on; },
    async listDevices() {
      const used = [...sources.values()].flatMap(taken => taken?.getTracks() ?? []).map(track => track.getSettings().deviceId);
      const isUsed = ({ id, kind }) => kind === 'speaker' ? id === (loudspeaker || 'default') : used.includes(id);
      tell({ event: 'devices', devices: (await listDevices()).map(device => ({ ...device, used: isUsed(device) })) });
    },
    prefer({ camera, microphone, speaker }) {
      preferred = { camera, microphone };
      loudspeaker = speaker;
    },
    float({ stream: name }) { float(name); },
    hearBy({ device }) { loudspeaker = device; aim(); actions.listDevices(); },
    turn({ source }) { turn(source).catch(error => console.warn('Another camera:', error.name)).finally(actions.listDevices); },
    swap({ source, kind, device }) { swap(source, kind, device).catch(error => console.warn('Another device:', error.name)).finally(actions.listDevices); },
    open({ peer, servers }) {
      const connection = connectionBy(servers, connect);
      peers.set(peer, { connection, sections: new Map(), ended: new Set(), directions: new Map(), isDescribed: false, last: Promise.resolve() });
      connection.addEventListener('icecandidate', ({ candidate }) => {
        if (peers.get(peer)?.isDescribed) tell({ event: 'candidate', peer, candidate: candidate?.toJSON() ?? null });
      });
      connection.addEventListener('iceconnectionstatechange', () => {
        const state = iceStates[connection.iceConnectionState];
        if (state !== undefined) tell({ event: 'ice', peer, state });
      });
      connection.addEventListener('track', ({ transceiver, track, streams: [named] }) => {
        tell({ event: 'trackArrived', peer, mid: transceiver.mid, stream: named?.id ?? '', video: track.kind === 'video' ? 1 : 0 });
      });
    },
    close({ peer }) {
      peers.get(peer)?.connection.close();
      peers.delete(peer);
      for (const name of [...streams.keys()]) if (name.startsWith(peer + '/')) streams.delete(name);
    },
  };

  // These wait for those before them on the same connection.
  const queued = {
    send({ connection, sections, ended }, { section, source, kind, on: receives }) {
      const taken = sources.get(source), track = taken?.getTracks().find(track => track.kind === kind);
      if (!track) return;
      if (receives) {
        const sender = connection.addTrack(track, taken);
        const transceiver = connection.getTransceivers().find(transceiver => transceiver.sender === sender);
        // The browser may give it one that rested.
        ended.delete(transceiver);
        sections.set(section, transceiver);
      } else {
        const hasLayers = sendsLayers && kind === 'video' && !track.getSettings().displaySurface;
        const sendEncodings = hasLayers ? layersFor(track.getSettings().width ?? 0) : undefined;
        sections.set(section, connection.addTransceiver(track, { direction: 'sendonly', streams: [taken], sendEncodings }));
      }
    },
    receive({ connection, sections }, { section, kind, codec }) {
      const transceiver = connection.addTransceiver(kind, { direction: 'recvonly' });
      const isOf = name => ({ mimeType }) => mimeType.toLowerCase() === `${kind}/${name}`;
      const known = RTCRtpReceiver.getCapabilities?.(kind)?.codecs ?? [], wanted = known.filter(isOf(codec.toLowerCase()));
      if (wanted.length) transceiver.setCodecPreferences?.([...wanted, ...known.filter(isOf('rtx'))]);
      sections.set(section, transceiver);
    },
    stop({ sections, ended }, { section }) {
      const transceiver = sections.get(section);
      sections.delete(section);
      if (!transceiver || transceiver.direction === 'stopped') return;
      transceiver.direction = 'inactive';
      ended.add(transceiver);
    },
    hold({ connection, ended, directions }, { on }) {
      for (const transceiver of connection.getTransceivers()) {
        if (transceiver.currentDirection === 'stopped' || ended.has(transceiver)) continue;
        if (on) directions.set(transceiver, transceiver.direction);
        transceiver.direction = on ? 'inactive' : directions.get(transceiver) ?? 'sendrecv';
      }
    },
    async describe(held, { peer, round, kind, on: restarts, section: gather }) {
      const { connection, sections } = held;
      held.isDescribed = false;
      if (kind === 'offer') stopEnded(held);
      await connection.setLocalDescription(kind === 'offer' ? await connection.createOffer({ iceRestart: restarts }) : await connection.createAnswer());
      await gathered(connection, gather);
      held.isDescribed = true;
      const mids = [...sections].map(([section, { mid }]) => ({ section, mid })).filter(({ mid }) => mid !== null);
      tell({ event: 'described', peer, round, sdp: connection.localDescription.sdp, mids });
    },
    async setRemote({ connection }, { peer, round, kind, sdp }) {
      await connection.setRemoteDescription({ type: kind, sdp });
      tell({ event: 'remoteSet', peer, round });
    },
    async addCandidate({ connection }, { candidate }) {
      // One that this browser cannot use is no reason to end a call.
      await connection.addIceCandidate(candidate).catch(() => {});
    },
    attach({ connection }, { peer, mid, stream: name }) {
      const track = connection.getTransceivers().find(transceiver => transceiver.mid === mid)?.receiver.track;
      if (track) stream(remote(peer, name)).addTrack(track);
      if (loudspeaker) aim();
    },
    detach(_, { peer, stream: name }) {
      const gone = streams.get(remote(peer, name));
      for (const track of gone?.getTracks() ?? []) gone.removeTrack(track);
      streams.delete(remote(peer, name));
    },
  };

  for (const [name, device] of [['openCamera', 'camera'], ['openScreen', 'screen'], ['openMicrophone', 'microphone'], ['openGiven', 'given']])
    actions[name] = effect => actions.capture({ ...effect, device });

  // The first section rests, whatever it was for. The transport of all is its: Chromium ends it for all with that section, although the bundle
  // goes on with another, and browsers refuse an offer in which nothing lives.
  function stopEnded({ connection, ended }) {
    const transceivers = connection.getTransceivers(), first = connection.localDescription?.sdp.match(/^a=mid:(.*?)\r?$/m)?.[1];
    const leads = transceivers.find(({ mid }) => mid !== null && mid === first) ?? transceivers[0];
    for (const transceiver of [...ended]) {
      if (transceiver === leads) continue;
      transceiver.stop();
      ended.delete(transceiver);
    }
  }

  function watch(track, source) { track.addEventListener('ended', () => tell({ event: 'captureEnded', source })); }

  // The camera that looks the other way. Where the browser does not say which way they look, the next one.
  async function turn(source) {
    const { deviceId, facingMode } = sources.get(source)?.getVideoTracks()[0]?.getSettings() ?? {};
    const cameras = (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === 'videoinput');
    const looks = camera => camera.getCapabilities?.().facingMode?.[0], at = cameras.findIndex(camera => camera.deviceId === deviceId);
    const other = cameras.find(camera => facingMode && looks(camera) && looks(camera) !== facingMode) ?? cameras[(at + 1) % cameras.length];
    if (other) await swap(source, 'video', other.deviceId);
  }

  // Another device in the place of one that is open; where it cannot be had, the one before.
  async function swap(source, kind, device) {
    const taken = sources.get(source), old = taken?.getTracks().find(track => track.kind === kind);
    if (!old) throw new DOMException('There is no such track.', 'NotFoundError');
    const before = old.getSettings().deviceId;
    const take = id => navigator.mediaDevices.getUserMedia({ [kind]: { ...kind === 'video' && pictures.camera, ...exactly(id) } });
    // Phones open one camera at a time.
    old.stop();
    let trouble = null;
    // Where that one cannot be had either, nothing comes from here any more.
    const failed = error => { tell({ event: 'captureEnded', source }); throw error; };
    const [track] = (await take(device).catch(error => { trouble = error; return take(before).catch(failed); })).getTracks();
    if (sources.get(source) !== taken) { track.stop(); return; }
    track.enabled = old.enabled;
    for (const shown of [taken, ...kind === 'video' ? [stream('own/' + source)] : []]) { shown.removeTrack(old); shown.addTrack(track); }
    watch(track, source);
    for (const { connection } of peers.values())
      for (const sender of connection.getSenders()) if (sender.track === old) await sender.replaceTrack(track);
    if (trouble) throw trouble;
  }

  // A stream in a window of the browser's own. While that is open it shows another stream as soon as it is told to.
  let floating = null;
  function float(name) {
    const isOpen = floating && document.pictureInPictureElement === floating;
    if (isOpen && name !== '') play(floating, stream(name));
    if (isOpen && name === '') leave(floating);
    if (isOpen || name === '') return;
    const video = floating = Object.assign(document.createElement('video'), { muted: true, playsInline: true });
    const isOver = error => {
      if (error) console.warn('A window of its own:', error.name);
      if (floating !== video) return;
      floating = null;
      video.srcObject = null;
      tell({ event: 'floats', on: false });
    };
    video.addEventListener('leavepictureinpicture', () => isOver());
    video.addEventListener('loadedmetadata', () => video.requestPictureInPicture().then(() => tell({ event: 'floats', on: true }), isOver), { once: true });
    play(video, stream(name));
  }
  function leave(video) { if (document.pictureInPictureElement === video) document.exitPictureInPicture().catch(() => {}); }
  function play(video, shown) {
    if (video.srcObject !== shown) video.srcObject = shown;
    video.play().catch(() => {});
  }

  return {
    act(effect) {
      const act = actions[effect.do];
      if (act) { act(effect); return; }
      const held = peers.get(effect.peer);
      if (!held) return;
      held.last = held.last.then(() => peers.get(effect.peer) === held && queued[effect.do](held, effect)).catch(error => {
        // Closed meanwhile.
        if (peers.get(effect.peer) !== held) return;
        console.warn('A peer connection:', error?.name, error?.message);
        if (effect.round !== undefined) tell({ event: 'failed', peer: effect.peer, round: effect.round });
      });
    },
    show(node, name) {
      // The attribute alone does not mute an element that is made by a program.
      node.muted = node.hasAttribute('muted');
      node.srcObject = name === '' ? null : stream(name);
      if (loudspeaker) aim();
      node.play?.().catch(() => {});
    },
    wish(source, wish) { wishes.set(source, wish); },
    swap, stream,
    device(source, kind) { return sources.get(source)?.getTracks().find(track => track.kind === kind)?.getSettings().deviceId ?? ''; },
    stop() {
      if (floating) leave(floating);
      for (const taken of sources.values()) for (const track of taken?.getTracks() ?? []) track.stop();
      for (const { connection } of peers.values()) connection.close();
    },
  };
}

const reasons = { NotAllowedError: 1, SecurityError: 1, NotFoundError: 2, OverconstrainedError: 2 };
const exactly = id => id ? { deviceId: { exact: id } } : {};
// One that is gone by now is no reason to have none. (Browsers need not follow a device that is `ideal`.)
export const ifThere = async id => exactly(id && (await listDevices()).some(device => device.id === id) && id);

// What of the page's own stream is meant; its tracks stay the page's.
function only(given, audio, video) {
  return new MediaStream(given.getTracks().filter(track => track.kind === 'audio' ? audio : video).map(track => track.clone()));
}

export async function listDevices() {
  const kinds = { videoinput: 'camera', audioinput: 'microphone', audiooutput: 'speaker' };
  const found = await navigator.mediaDevices?.enumerateDevices() ?? [];
  return found.filter(({ kind, deviceId }) => kind in kinds && deviceId !== '').map(({ deviceId, kind, label }) => ({ id: deviceId, kind: kinds[kind], label }));
}

// A socket of texts: tells 1 when it is open, 2 and the bytes of each, 0 when it is gone.
export function openSocket(url, tell) {
  let socket = null;
  try { socket = new WebSocket(url); } catch { setTimeout(() => tell(0)); return { say() {}, stop() {} }; }
  socket.addEventListener('open', () => tell(1));
  socket.addEventListener('message', ({ data }) => { if (typeof data === 'string') tell(2, data); else socket.close(); });
  socket.addEventListener('close', () => tell(0));
  return { say(text) { if (socket.readyState === 1) socket.send(text); }, stop() { socket.close(); } };
}

// Servers that a browser refuses, as it does one without an address or without a password, are left out: the others may do.
function connectionBy(servers, connect) {
  const open = iceServers => connect({ iceServers, bundlePolicy: 'max-bundle' });
  const isTaken = server => { try { open([server]).close(); return true; } catch { return false; } };
  try { return open(servers); } catch { return open(servers.filter(isTaken)); }
}

// Until all candidates are there, but no longer than that.
function gathered(connection, milliseconds) {
  if (connection.iceGatheringState === 'complete') return undefined;
  return new Promise(done => {
    const timer = setTimeout(done, milliseconds);
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') { clearTimeout(timer); done(); }
    });
  });
}
