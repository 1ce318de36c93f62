// Cameras, tracks and peer connections: what the program says is done in order, peer connection by peer connection; it decides, this holds
// the browser's objects. Effects and what is told of them: MediaEffect and MediaInput of the module CallCore.

const pictures = { camera: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } } };
// What is told goes by number, in MediaInput's order.
const iceStates = { checking: 0, connected: 1, completed: 1, disconnected: 2, failed: 3 };
const events = { captured: 1, captureFailed: 2, captureEnded: 3, described: 4, remoteSet: 5, failed: 6, candidate: 7, ice: 8, trackArrived: 9 };

export function openMedia(hear) {
  const tell = ({ event, ...rest }) => hear({ event: events[event], ...rest });
  const sources = new Map(), peers = new Map(), streams = new Map();

  // A stream of the other side, or one's own, under the name by which it is shown.
  const stream = name => streams.get(name) ?? streams.set(name, new MediaStream()).get(name);
  const remote = (peer, name) => peer + '/' + name;

  async function open(kind, audio, video) {
    if (kind === 'screen') return navigator.mediaDevices.getDisplayMedia({ audio, video: true });
    const wanted = { audio, video: video && kind === 'camera' ? pictures.camera : false };
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
      sources.set(source, null);
      try {
        const taken = await open(device, kind !== 'video', kind !== 'audio');
        if (!sources.has(source)) { for (const track of taken.getTracks()) track.stop(); return; }
        sources.set(source, taken);
        const [picture] = taken.getVideoTracks();
        for (const track of taken.getTracks()) track.addEventListener('ended', () => tell({ event: 'captureEnded', source }));
        const shown = stream('own/' + source);
        if (picture) shown.addTrack(picture);
        const { width = 0, height = 0 } = picture?.getSettings() ?? {};
        tell({ event: 'captured', source, stream: taken.id, audio: taken.getAudioTracks().length, video: picture ? 1 : 0, width, height });
      } catch (error) {
        sources.delete(source);
        tell({ event: 'captureFailed', source });
      }
    },
    release({ source }) {
      for (const track of sources.get(source)?.getTracks() ?? []) track.stop();
      sources.delete(source);
      streams.delete('own/' + source);
    },
    enable({ source, kind, on }) {
      for (const track of sources.get(source)?.getTracks() ?? []) if (track.kind === kind) track.enabled = on;
    },
    open({ peer, servers }) {
      const connection = new RTCPeerConnection({ iceServers: servers, bundlePolicy: 'max-bundle' });
      peers.set(peer, { connection, sections: new Map(), directions: new Map(), isDescribed: false, last: Promise.resolve() });
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
    send({ connection, sections }, { section, source, kind, on: receives }) {
      const taken = sources.get(source), track = taken?.getTracks().find(track => track.kind === kind);
      if (!track) return;
      if (receives) {
        const sender = connection.addTrack(track, taken);
        sections.set(section, connection.getTransceivers().find(transceiver => transceiver.sender === sender));
      } else {
        sections.set(section, connection.addTransceiver(track, { direction: 'sendonly', streams: [taken] }));
      }
    },
    receive({ connection, sections }, { section, kind }) {
      sections.set(section, connection.addTransceiver(kind, { direction: 'recvonly' }));
    },
    stop({ sections }, { section }) {
      sections.get(section)?.stop();
      sections.delete(section);
    },
    hold({ connection, directions }, { on }) {
      for (const transceiver of connection.getTransceivers()) {
        if (transceiver.currentDirection === 'stopped') continue;
        if (on) directions.set(transceiver, transceiver.direction);
        transceiver.direction = on ? 'inactive' : directions.get(transceiver) ?? 'sendrecv';
      }
    },
    async describe(held, { peer, round, kind, on: restarts, section: gather }) {
      const { connection, sections } = held;
      held.isDescribed = false;
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
    },
    detach(_, { peer, stream: name }) {
      const gone = streams.get(remote(peer, name));
      for (const track of gone?.getTracks() ?? []) gone.removeTrack(track);
      streams.delete(remote(peer, name));
    },
  };

  for (const [name, device] of [['openCamera', 'camera'], ['openScreen', 'screen'], ['openMicrophone', 'microphone']])
    actions[name] = effect => actions.capture({ ...effect, device });

  return {
    act(effect) {
      const act = actions[effect.do];
      if (act) { act(effect); return; }
      const held = peers.get(effect.peer);
      if (!held) return;
      held.last = held.last.then(() => peers.get(effect.peer) === held && queued[effect.do](held, effect)).catch(error => {
        console.warn('A peer connection:', error?.name, error?.message);
        if (effect.round !== undefined) tell({ event: 'failed', peer: effect.peer, round: effect.round });
      });
    },
    show(node, name) {
      // The attribute alone does not mute an element that is made by a program.
      node.muted = node.hasAttribute('muted');
      node.srcObject = name === '' ? null : stream(name);
      node.play?.().catch(() => {});
    },
    stop() {
      for (const taken of sources.values()) for (const track of taken?.getTracks() ?? []) track.stop();
      for (const { connection } of peers.values()) connection.close();
    },
  };
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
