// The Worker that encrypts and decrypts the frames of an encrypted call (frame-cipher.js), between codecs and packets. The page says which keys
// there are (sealed-media.js). A frame for which there is none is dropped: nothing leaves unencrypted, and nothing that cannot be proven is shown.

import { Opener, Sealer } from './frame-cipher.js';

const sealer = new Sealer(), opener = new Opener();
// Of what receives, by number: its owner, its transformer, and whether it lacks what could not be opened.
const receivers = new Map();
const receiverOf = number => receivers.get(number) ?? receivers.set(number, {}).get(number);

const typeOf = frame => frame instanceof RTCEncodedVideoFrame ? frame.type : undefined;

// Only VP8 is known to work with its first bytes in clear text.
const isKnown = (frame, type) => type === undefined || (frame.getMetadata().mimeType ?? 'video/VP8').toLowerCase() === 'video/vp8';

async function seal(frame, controller) {
  const type = typeOf(frame), sealed = isKnown(frame, type) && type !== 'empty' ? await sealer.seal(frame.data, type) : null;
  if (!sealed) return;
  frame.data = sealed;
  controller.enqueue(frame);
}

async function open(receiver, frame, controller) {
  const opened = await opener.open(receiver.owner, frame.data, typeOf(frame) !== undefined);
  if (!opened) { receiver.lacks = true; return; }
  frame.data = opened;
  controller.enqueue(frame);
}

self.onrtctransform = ({ transformer }) => {
  const { readable, writable, options: { way, number } } = transformer;
  let transform = seal;
  if (way === 'receive') {
    const receiver = Object.assign(receiverOf(number), { transformer });
    transform = (frame, controller) => open(receiver, frame, controller);
  }
  readable.pipeThrough(new TransformStream({ transform })).pipeTo(writable).catch(() => {}).finally(() => receivers.delete(number));
};

// What was missed is made up for by a whole picture.
function askForPictures(owner) {
  for (const receiver of receivers.values()) {
    if (receiver.owner !== owner || !receiver.lacks) continue;
    receiver.lacks = false;
    receiver.transformer?.sendKeyFrameRequest?.().catch(() => {});
  }
}

const actions = {
  use: ({ index, secret }) => sealer.use(index, secret),
  async take({ owner, index, secret }) {
    await opener.take(owner, index, secret);
    askForPictures(owner);
  },
  forget: ({ owner }) => opener.forget(owner),
  from({ number, owner }) {
    receiverOf(number).owner = owner;
    askForPictures(owner);
  },
};

// One after the other: a key that comes later is used later.
let last = Promise.resolve();
self.onmessage = ({ data }) => { last = last.then(() => actions[data.do](data)).catch(error => console.warn('A key of a call:', error.name)); };
