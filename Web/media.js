// Images and files: what lies under the account's media address is fetched with its token and shown from memory.

const imageBytesLimit = 96 << 20;
const images = new Map();          // source -> { url, bytes, users, ready }, least recently used first
let imageBytes = 0;
let prefix = '', token = '';

export const isOfAccount = source => token !== '' && prefix !== '' && source.startsWith(prefix);

export function setMediaAccess(newPrefix, newToken = '') {
  [prefix, token] = [newPrefix, newToken];
  if (token === '') for (const [source, entry] of [...images]) dropImage(source, entry);
}

// What is there, with the account's token where it is the account's. Throws where there is nothing. `progress` hears how much of it has come, of 1.
export async function fetchMedia(source, signal, progress) {
  // Of what is small and quick nobody needs to hear.
  const slow = progress && setTimeout(progress, slowMilliseconds, 0);
  let answer;
  try {
    answer = await fetch(source, { signal, headers: isOfAccount(source) ? { Authorization: 'Bearer ' + token } : {}, credentials: 'omit' });
  } finally {
    clearTimeout(slow);
  }
  if (!answer.ok) throw new Error('status ' + answer.status);
  const total = Number(answer.headers.get('Content-Length'));
  return progress && total > 0 ? readParts(answer, total, progress) : answer.blob();
}

const slowMilliseconds = 500, largeBytes = 1 << 20, progressMilliseconds = 100;

async function readParts(answer, total, progress) {
  const reader = answer.body.getReader(), parts = [], start = performance.now();
  let [bytes, told] = [0, 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts, { type: answer.headers.get('Content-Type') ?? '' });
    parts.push(value);
    bytes += value.length;
    const now = performance.now();
    if (now - told < progressMilliseconds || total < largeBytes && now - start < slowMilliseconds) continue;
    told = now;
    progress(Math.min(1, bytes / total));
  }
}

// A URL that an element may load: what is the account's lies in memory, to be revoked when it is not wanted any more.
export async function mediaURL(source) {
  return isOfAccount(source) ? URL.createObjectURL(await fetchMedia(source)) : source;
}

export function showImage(node, source) {
  if (node.__source === source) return;
  const old = images.get(node.__source);
  if (old) old.users.delete(node);
  node.__source = source;
  if (source === '') {
    node.removeAttribute('src');
    delete node.dataset.state;
    return;
  }
  if (!node.__watched) {
    node.__watched = true;
    node.decoding = 'async';
    for (const type of ['load', 'loadeddata']) node.addEventListener(type, () => { if (node.__source) node.dataset.state = 'loaded'; });
    node.addEventListener('error', () => { if (node.__source) node.dataset.state = 'failed'; });
  }
  node.dataset.state = 'loading';
  if (!isOfAccount(source)) {
    node.src = source;
    if (node.complete && node.naturalWidth > 0) node.dataset.state = 'loaded';
    return;
  }
  node.removeAttribute('src');
  const entry = images.get(source) ?? { url: '', bytes: 0, users: new Set(), ready: null };
  images.delete(source);
  images.set(source, entry);
  entry.users.add(node);
  entry.ready ??= loadImage(source, entry);
  const show = () => {
    if (node.__source !== source) return;
    if (entry.url === '') { node.dataset.state = 'failed'; return; }
    node.src = entry.url;
    if (node.complete && node.naturalWidth > 0) node.dataset.state = 'loaded';
  };
  if (entry.url !== '') show(); else entry.ready.then(show);
}

async function loadImage(source, entry) {
  try {
    const blob = await fetchMedia(source);
    if (images.get(source) !== entry) return;
    entry.url = URL.createObjectURL(blob);
    entry.bytes = blob.size;
    imageBytes += blob.size;
    trimImages();
  } catch {
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

function dropImage(source, entry) {
  images.delete(source);
  imageBytes -= entry.bytes;
  if (entry.url !== '') URL.revokeObjectURL(entry.url);
}

// Whether it could be had.
export async function download(url, name, signal, progress) {
  try {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await fetchMedia(url, signal, progress));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return true;
  } catch {
    return false;
  }
}

export const canShare = () => { try { return navigator.canShare({ files: [new File([], 'a.png', { type: 'image/png' })] }); } catch { return false; } };

// Gives it to another program. Whoever changes their mind meets no failure.
export async function share(url, name, signal, progress) {
  try {
    const blob = await fetchMedia(url, signal, progress);
    await navigator.share({ files: [new File([blob], name, { type: blob.type })] });
    return true;
  } catch (error) {
    return error.name === 'AbortError';
  }
}
