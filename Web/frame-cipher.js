// How the frames of an encrypted call are encrypted: AES-256-GCM by WebCrypto, a key for each device and index. A sealed frame is
//
//   clear bytes | ciphertext with its tag (16) | number of the frame (6) | index of the key (1) | how many bytes are clear (1)
//
// The numbers of a key's frames count up over all tracks and layers, and are the nonce: none comes twice, and a frame that comes twice is not
// taken. The clear bytes, and whether it is a picture, are authenticated. Documentation/Decisions/0023-encryption.md

const tagBytes = 16, trailerBytes = 8, numberBytes = 6, mostClear = 10;

// What the packets of VP8 and those who carry them have to know: whether the picture is whole, and how large. Of sound nobody has to.
const clearOf = { key: 10, delta: 3 };

const importKey = (secret, use) => crypto.subtle.importKey('raw', secret, 'AES-GCM', false, [use]);

function parameters(number, isVideo, clear) {
  const iv = new Uint8Array(12), additionalData = new Uint8Array(1 + clear.length);
  writeNumber(new DataView(iv.buffer), 6, number);
  additionalData[0] = isVideo ? 1 : 0;
  additionalData.set(clear, 1);
  return { name: 'AES-GCM', iv, additionalData, tagLength: 8 * tagBytes };
}

function writeNumber(view, offset, number) {
  view.setUint16(offset, Math.floor(number / 2 ** 32));
  view.setUint32(offset + 2, number % 2 ** 32);
}

const readNumber = (view, offset) => view.getUint16(offset) * 2 ** 32 + view.getUint32(offset + 2);

// What is sent from here. There is one of it in a call, so that all tracks count together.
export class Sealer {
  #own = null;

  // `secret`: 32 bytes that were never used before.
  async use(index, secret) { this.#own = { index, key: await importKey(secret, 'encrypt'), sealed: 0 }; }

  // `type`: 'key' or 'delta' of a picture, else undefined. null without a key: then nothing may be sent.
  async seal(data, type) {
    const own = this.#own;
    if (!own || own.sealed >= 2 ** 48) return null;
    // Taken before anything is waited for.
    const number = own.sealed++;
    const bytes = new Uint8Array(data), clear = bytes.subarray(0, clearOf[type] ?? 0);
    const text = await crypto.subtle.encrypt(parameters(number, type !== undefined, clear), own.key, bytes.subarray(clear.length));
    const sealed = new Uint8Array(clear.length + text.byteLength + trailerBytes), trailer = sealed.length - trailerBytes;
    sealed.set(clear);
    sealed.set(new Uint8Array(text), clear.length);
    writeNumber(new DataView(sealed.buffer), trailer, number);
    sealed.set([own.index, clear.length], trailer + numberBytes);
    return sealed.buffer;
  }
}

// Keys of one device, at most: what is on its way may be of the one before.
const keysOfOwner = 4;

// What comes from others.
export class Opener {
  #keys = new Map();      // owner -> Map of index -> { text, key, taken }

  async take(owner, index, secret) {
    const key = await importKey(secret, 'decrypt'), text = String(secret);
    if (!this.#keys.has(owner)) this.#keys.set(owner, new Map());
    const keys = this.#keys.get(owner), known = keys.get(index);
    keys.delete(index);
    // A key that comes again does not let its frames in again.
    keys.set(index, known?.text === text ? known : { text, key, taken: new TakenNumbers() });
    if (keys.size > keysOfOwner) keys.delete(keys.keys().next().value);
  }

  forget(owner) { this.#keys.delete(owner); }

  // Whether there is a key that may open it.
  hasKey(owner, data) { return this.#keyOf(owner, new Uint8Array(data)) !== undefined; }

  // null for what cannot be opened, or was before.
  async open(owner, data, isVideo) {
    const bytes = new Uint8Array(data), known = this.#keyOf(owner, bytes);
    if (!known) return null;
    const trailer = bytes.length - trailerBytes, clearCount = bytes[bytes.length - 1];
    if (clearCount > mostClear || clearCount + tagBytes > trailer) return null;
    const clear = bytes.subarray(0, clearCount), number = readNumber(new DataView(data), trailer);
    let text;
    try {
      text = await crypto.subtle.decrypt(parameters(number, isVideo, clear), known.key, bytes.subarray(clearCount, trailer));
    } catch { return null; }
    if (!known.taken.take(number)) return null;
    const opened = new Uint8Array(clearCount + text.byteLength);
    opened.set(clear);
    opened.set(new Uint8Array(text), clearCount);
    return opened.buffer;
  }

  #keyOf(owner, bytes) {
    return bytes.length < trailerBytes ? undefined : this.#keys.get(owner)?.get(bytes[bytes.length - 2]);
  }
}

// The last numbers that were taken. Frames overtake one another, but not by more than some seconds.
class TakenNumbers {
  static #span = 4096;
  #newest = -1;
  #taken = new Float64Array(TakenNumbers.#span).fill(-1);

  take(number) {
    const place = number % TakenNumbers.#span;
    if (number <= this.#newest - TakenNumbers.#span || this.#taken[place] === number) return false;
    this.#taken[place] = number;
    this.#newest = Math.max(this.#newest, number);
    return true;
  }
}
