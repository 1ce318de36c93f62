// Encrypted calls: peer connections on which a Worker (call-frames.js) stands between each track and its packets. There is no way around it: a track
// is tied to the Worker as soon as the connection has it, before there is anything to send.

export function sealedMedia() {
  let worker = null, opening = 0, last = 0;
  // Numbers of receivers at the Worker, receivers by peer and MID, and of each stream the numbers and the owner.
  const numbers = new WeakMap(), receivers = new Map(), streams = new Map(), owners = new Map();

  const sealSender = sender => { sender.transform ??= new RTCRtpScriptTransform(worker, { way: 'send' }); };
  function sealReceiver(receiver) {
    if (numbers.has(receiver)) return;
    numbers.set(receiver, ++last);
    receiver.transform = new RTCRtpScriptTransform(worker, { way: 'receive', number: last });
  }

  class Connection extends RTCPeerConnection {
    constructor(options, peer) {
      super(options);
      this.addEventListener('track', ({ transceiver: { mid, receiver } }) => {
        sealReceiver(receiver);
        receivers.set(peer + ' ' + mid, receiver);
      });
    }
    addTransceiver(track, options) {
      const transceiver = super.addTransceiver(track, options);
      if (options?.direction !== 'recvonly') sealSender(transceiver.sender);
      if (options?.direction !== 'sendonly') sealReceiver(transceiver.receiver);
      if (options?.direction === 'sendonly') narrow(transceiver);
      return transceiver;
    }
    addTrack(...all) {
      const sender = super.addTrack(...all);
      sealSender(sender);
      return sender;
    }
  }

  const tell = message => worker?.postMessage(message);
  const tellOwner = name => {
    if (owners.has(name)) for (const number of streams.get(name) ?? []) tell({ do: 'from', number, owner: owners.get(name) });
  };

  // What is done here alone.
  const actions = {
    // Before the first connection.
    seal() {
      worker = new Worker(new URL('call-frames.js', import.meta.url), { type: 'module' });
      worker.onerror = event => console.error('Encrypting a call:', event.message);
    },
    // Without an `owner` it is the own one. `secret`: in base64.
    key({ owner, index, secret }) {
      const bytes = Uint8Array.from(atob(secret), letter => letter.charCodeAt(0));
      if (bytes.length === 32) tell({ do: owner === undefined ? 'use' : 'take', owner, index, secret: bytes });
    },
    forget({ owner }) { tell({ do: 'forget', owner }); },
    from({ stream, owner }) {
      owners.set(stream, owner);
      tellOwner(stream);
    },
  };
  // What is seen of what calls.js does.
  const seen = {
    open({ peer }) { opening = peer; },
    attach({ peer, mid, stream }) {
      const name = peer + '/' + stream, receiver = receivers.get(peer + ' ' + mid);
      if (!receiver) return;
      streams.set(name, [...streams.get(name) ?? [], numbers.get(receiver)]);
      tellOwner(name);
    },
    detach({ peer, stream }) { for (const known of [streams, owners]) known.delete(peer + '/' + stream); },
    close({ peer }) { for (const [known, end] of [[streams, '/'], [owners, '/'], [receivers, ' ']]) forgetAll(known, peer + end); },
  };

  return {
    connection: options => worker ? new Connection(options, opening) : new RTCPeerConnection(options),
    // True for what is done here alone.
    act(effect) {
      seen[effect.do]?.(effect);
      actions[effect.do]?.(effect);
      return effect.do in actions;
    },
    stop() { worker?.terminate(); },
  };
}

function forgetAll(known, start) { for (const name of [...known.keys()]) if (name.startsWith(start)) known.delete(name); }

// The codecs whose frames can be carried encrypted.
function narrow(transceiver) {
  const kind = transceiver.sender.track?.kind ?? 'audio', wanted = { audio: ['audio/opus'], video: ['video/vp8', 'video/rtx'] }[kind];
  const codecs = (RTCRtpSender.getCapabilities?.(kind)?.codecs ?? []).filter(({ mimeType }) => wanted.includes(mimeType.toLowerCase()));
  if (codecs.length) transceiver.setCodecPreferences?.(codecs);
}
