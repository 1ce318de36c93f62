// Images and files: what lies under the account's media address is fetched with its token and shown from memory.

import { locale, word } from './language.js';

export const service = program => ({
  image_access: ([prefix, token]) => setMediaAccess(prefix, token),
  download: (id, [url, name]) => hand(program, id, download, url, name),
  share: (id, [url, name]) => hand(program, id, share, url, name),
  share_link: ([url, title]) => navigator.share({ url, title }).catch(() => { /* Who changes their mind meets no failure. */ }),
});

function hand(program, id, way, url, name) {
  const abort = new AbortController();
  program.objects.set(id, { stop: () => abort.abort() });
  // Of what was stopped nothing more is told.
  const tell = (code, part) => { if (program.objects.has(id)) program.dispatch(id, code, part); };
  way(url, name, abort.signal, part => tell(-1, part)).then(isDone => {
    tell(isDone ? 1 : 0);
    program.objects.delete(id);
  });
}

const imageBytesLimit = 96 << 20;
const images = new Map();          // source -> { url, bytes, users, ready, kept }, least recently used first
let imageBytes = 0;
// What was seen last stays decoded as long as an image has it: whoever comes back to a room sees its pictures at once.
const keptPixelsLimit = 24_000_000;
let keptPixels = 0;
let prefix = '', token = '';

// Nobody has asked for what rows show: of more than that nothing is seen. Pictures that are shown as they are say that they are small
// (RowMaker.wholePictureBytes), which need not be true.
const unaskedBytesLimit = 20 << 20, wholeBytesLimit = 1_200_000;

// What a browser shows without running anything of it.
const harmless = new Set([
  ...['apng', 'avif', 'bmp', 'gif', 'jpeg', 'png', 'vnd.microsoft.icon', 'webp', 'x-icon'].map(kind => 'image/' + kind),
  ...['3gpp', 'mp4', 'mpeg', 'ogg', 'quicktime', 'webm', 'x-m4v', 'x-matroska'].map(kind => 'video/' + kind),
  ...['3gpp', 'aac', 'flac', 'mp4', 'mpeg', 'ogg', 'opus', 'wav', 'webm', 'x-flac', 'x-m4a', 'x-wav'].map(kind => 'audio/' + kind),
]);

// The same bytes to be shown: a drawing of a few of them (SVG) can keep a browser busy for ever, and a document that somebody opens by its
// address runs as a part of this page. What has no type that is known the browser shows where its first bytes are those of a picture or of a film.
export function asShown(blob) {
  const type = blob.type.split(';')[0].trim().toLowerCase();
  return blob.slice(0, blob.size, harmless.has(type) ? type : 'application/octet-stream');
}

// Whether it has the keys of an encrypted file with it (sealed-files.js).
const isSealed = source => source.includes('#');

export const isOfAccount = source => token !== '' && prefix !== '' && source.startsWith(prefix);

// The account's token as it is now, for nobody but its server: empty for others.
export const tokenFor = server => prefix.startsWith(server + '/_matrix/') ? token : '';

export function setMediaAccess(newPrefix, newToken = '') {
  [prefix, token] = [newPrefix, newToken];
  if (token === '') for (const [source, entry] of [...images]) dropImage(source, entry);
}

// What is there, with the account's token where it is the account's, and in clear text where it is encrypted. Throws where there is nothing, or more
// than `limit()` bytes. `progress` hears how much of it has come, of 1.
export async function fetchMedia(source, signal, progress, limit = () => Infinity) {
  if (!isSealed(source)) return fetchBytes(source, signal, progress, limit);
  const { decryptFile, largest } = await import('./sealed-files.js');
  const address = source.slice(0, source.indexOf('#'));
  return decryptFile(source, await fetchBytes(address, signal, progress, () => Math.min(limit(), largest)));
}

async function fetchBytes(source, signal, progress, limit) {
  // Of what is small and quick nobody needs to hear.
  const slow = progress && setTimeout(progress, slowMilliseconds, 0);
  const ask = headers => fetch(source, { signal, headers: { ...isOfAccount(source) && { Authorization: 'Bearer ' + token }, ...headers }, credentials: 'omit' });
  let answer;
  try {
    answer = await ask();
  } finally {
    clearTimeout(slow);
  }
  if (!answer.ok) throw new Error('status ' + answer.status);
  const total = Number(answer.headers.get('Content-Length'));
  if (total > limit()) {
    answer.body?.cancel().catch(() => {});
    throw new Error('too large');
  }
  return answer.body ? readParts(answer, total, progress, limit, from => goOn(ask, answer, from, total, signal)) : answer.blob();
}

// Seconds between attempts to go on where a connection was lost.
const pauses = [0.5, 1, 2, 4, 8];

// The rest of it, from a byte on; undefined where it cannot be had.
async function goOn(ask, answer, from, total, signal) {
  if (!(total > 0)) return undefined;
  const tag = answer.headers.get('ETag');
  for (const pause of pauses) {
    await new Promise(passed => setTimeout(passed, pause * 1000));
    if (signal?.aborted) return undefined;
    try {
      const rest = await ask({ Range: `bytes=${from}-`, ...tag && { 'If-Range': tag } });
      if (rest.status === 206 && Number(rest.headers.get('Content-Length')) === total - from) return rest;
      if (rest.status < 500) return undefined;
    } catch {
      // Still no connection.
    }
  }
  return undefined;
}

const slowMilliseconds = 500, largeBytes = 1 << 20, progressMilliseconds = 100;

async function readParts(answer, total, progress, limit, goOn) {
  const parts = [], start = performance.now();
  let [reader, bytes, told] = [answer.body.getReader(), 0, 0];
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      reader = (await goOn(bytes))?.body.getReader();
      if (!reader) throw error;
      continue;
    }
    const { done, value } = piece;
    if (done) return new Blob(parts, { type: answer.headers.get('Content-Type') ?? '' });
    parts.push(value);
    bytes += value.length;
    if (Math.max(bytes, total) > limit()) {
      reader.cancel().catch(() => {});
      throw new Error('too large');
    }
    if (!progress || !(total > 0)) continue;
    const now = performance.now();
    if (now - told < progressMilliseconds || total < largeBytes && now - start < slowMilliseconds) continue;
    told = now;
    progress(Math.min(1, bytes / total));
  }
}

// A URL that an element may load: what is the account's lies in memory, to be revoked when it is not wanted any more.
export async function mediaURL(source, progress) {
  return isOfAccount(source) ? URL.createObjectURL(asShown(await fetchMedia(source, undefined, progress))) : source;
}

export function showImage(node, source) {
  if (node.__source === source) return;
  for (const old of [node.__source, node.__reduced]) images.get(old)?.users.delete(node);
  node.__source = source;
  node.__reduced = undefined;
  takeBackDamaged(node);
  if (source === '') {
    node.removeAttribute('src');
    delete node.dataset.state;
    return;
  }
  if (!node.__watched) {
    node.__watched = true;
    node.decoding = 'async';
    for (const type of ['load', 'loadeddata']) node.addEventListener(type, () => { if (node.__source) node.dataset.state = 'loaded'; });
    node.addEventListener('error', () => { if (node.__source && !showReduced(node)) node.dataset.state = 'failed'; });
  }
  node.dataset.state = 'loading';
  delete node.parentElement?.dataset.part;
  if (!isOfAccount(source)) {
    node.src = source;
    if (node.complete && node.naturalWidth > 0) node.dataset.state = 'loaded';
    return;
  }
  node.removeAttribute('src');
  load(node, source, () => node.__source === source);
}

// Loads the thumbnail in place of a picture that this browser cannot show (HEIC, TIFF). Returns false if the server can have none.
function showReduced(node) {
  const source = node.__source;
  if (node.localName !== 'img' || node.__reduced || !isOfAccount(source) || isSealed(source) || !source.includes('/media/download/')) return false;
  const reduced = source.split('?')[0].replace('/media/download/', '/media/thumbnail/') + '?width=1600&height=1200&method=scale';
  node.__reduced = reduced;
  load(node, reduced, () => node.__source === source && node.__reduced === reduced);
  return true;
}

function load(node, source, isStillWanted) {
  const entry = images.get(source) ?? { url: '', bytes: 0, users: new Set(), ready: null };
  images.delete(source);
  images.set(source, entry);
  entry.users.add(node);
  entry.ready ??= loadImage(source, entry);
  const show = () => {
    if (!isStillWanted()) return;
    if (entry.url === '') {
      node.dataset.state = 'failed';
      if (entry.isDamaged) sayDamaged(node);
      return;
    }
    // What is decoded is drawn with the row, and not a frame later.
    node.decoding = entry.kept ? 'sync' : 'async';
    node.src = entry.url;
    if (node.complete && node.naturalWidth > 0) node.dataset.state = 'loaded';
    if (node.localName === 'img') keepDecoded(entry);
  };
  if (entry.url !== '') show(); else entry.ready.then(show);
}

// In the place of the picture, and for screen readers.
function sayDamaged(node) {
  node.__alt = node.alt;
  // A small one has no room for the words.
  node.alt = node.title = node.__damaged = word('fileDamaged') ?? node.alt;
}

function takeBackDamaged(node) {
  if (node.__damaged === undefined) return;
  if (node.alt === node.__damaged) node.alt = node.__alt;
  node.removeAttribute('title');
  node.__damaged = undefined;
}

async function loadImage(source, entry) {
  try {
    // What shows it large has room for how far it is.
    const tell = part => {
      for (const node of entry.users) if (node.parentElement) node.parentElement.dataset.part = part.toLocaleString(locale, { style: 'percent' });
    };
    // Who has opened it wants all of it.
    const isWanted = () => [...entry.users].some(node => node.closest('.ma-viewer-box'));
    const isWhole = source.includes('/media/download/') && !isSealed(source) && [...entry.users].every(node => node.matches('.mg-picture-image'));
    const blob = await fetchMedia(source, undefined, tell, () => isWanted() ? Infinity : isWhole ? wholeBytesLimit : unaskedBytesLimit);
    if (images.get(source) !== entry) return;
    entry.url = URL.createObjectURL(asShown(blob));
    entry.bytes = blob.size;
    imageBytes += blob.size;
    trimImages();
  } catch (error) {
    entry.isDamaged = error.constructor.name === 'DamagedFile';
    // Forgotten, so that the next row that wants it asks again.
    if (images.get(source) === entry) images.delete(source);
  }
}

function trimImages() {
  for (const [source, entry] of images) {
    if (imageBytes <= imageBytesLimit) return;
    if (entry.users.size === 0 && entry.url !== '') dropImage(source, entry);
  }
}

function keepDecoded(entry) {
  if (entry.kept || entry.asksForDecoded) return;
  entry.asksForDecoded = true;
  const image = new Image();
  image.src = entry.url;
  image.decode().then(() => {
    entry.asksForDecoded = false;
    const pixels = image.naturalWidth * image.naturalHeight;
    if (entry.url !== image.src || pixels > keptPixelsLimit / 2) return;
    entry.kept = image;
    keptPixels += pixels;
    for (const other of images.values()) {
      if (keptPixels <= keptPixelsLimit) return;
      forgetDecoded(other);
    }
  }, () => { /* What cannot be shown says so where it stands. */ });
}

function forgetDecoded(entry) {
  if (!entry.kept) return;
  keptPixels -= entry.kept.naturalWidth * entry.kept.naturalHeight;
  entry.kept = null;
}

function dropImage(source, entry) {
  forgetDecoded(entry);
  images.delete(source);
  imageBytes -= entry.bytes;
  if (entry.url !== '') URL.revokeObjectURL(entry.url);
  entry.url = '';
}

// Whether it could be had.
async function download(url, name, signal, progress) {
  try {
    const link = document.createElement('a');
    // Its type is the sender's word. A browser that opens it instead of saving it may run nothing of it as a part of this page.
    link.href = URL.createObjectURL(asShown(await fetchMedia(url, signal, progress)));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return true;
  } catch {
    return false;
  }
}

// Shares it with another program. Cancelling is not a failure.
async function share(url, name, signal, progress) {
  try {
    const blob = await fetchMedia(url, signal, progress);
    await navigator.share({ files: [new File([blob], name, { type: blob.type })] });
    return true;
  } catch (error) {
    return error.name === 'AbortError';
  }
}
