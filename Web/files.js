// Files that people pick, paste, drop or record: what they are, and by name in IndexedDB while they wait to be sent, so that a page that goes
// away takes none of them with it.

import { asShown } from './media.js';
import { onStoreOpened } from './store.js';

// ---- What they are

// One a line as Host.pickedFiles reads it, of a video its picture in the line behind. `numberOf` gives each its number.
export async function describe(list, numberOf) {
  const lines = [];
  const add = (file, { width, height, seconds }, name) => {
    lines.push([numberOf(file), file.size, width, height, Math.round(seconds * 1000), file.type.replace(/\s/g, ''), name].join('\t'));
  };
  for (const file of list) {
    const sight = await look(file);
    add(file, sight, file.name.replace(/[\t\n\r]/g, ' ') || 'file');
    if (sight.poster) add(sight.poster.file, sight.poster, '');
  }
  return lines.join('\n');
}

const nothing = { width: 0, height: 0, seconds: 0 };

async function look(file) {
  const kind = file.type.split('/')[0];
  if (kind !== 'image' && kind !== 'video') return nothing;
  const url = URL.createObjectURL(asShown(file));
  try {
    if (kind === 'video') return await lookAtVideo(url);
    const image = new Image();
    image.src = url;
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight, seconds: 0 };
  } catch {
    return nothing;
  } finally {
    URL.revokeObjectURL(url);
  }
}

// Pixels of the longer side of a video's picture; how long a browser may take to show one.
const posterPixels = 800;
const posterMilliseconds = 4000;

async function lookAtVideo(url) {
  const video = document.createElement('video');
  const next = type => new Promise((told, failed) => {
    video.addEventListener(type, told, { once: true });
    video.addEventListener('error', failed, { once: true });
    setTimeout(failed, posterMilliseconds);
  });
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  await next('loadedmetadata');
  const { videoWidth: width, videoHeight: height, duration } = video;
  const seconds = Number.isFinite(duration) ? duration : 0;
  try {
    // The first frame is black often.
    const shown = next('seeked');
    video.currentTime = Math.min(1, seconds / 2);
    await shown;
    return { width, height, seconds, poster: await drawPoster(video, width, height) };
  } catch {
    return { width, height, seconds };
  } finally {
    video.removeAttribute('src');
    video.load();
  }
}

async function drawPoster(video, width, height) {
  const part = Math.min(1, posterPixels / Math.max(width, height));
  const canvas = Object.assign(document.createElement('canvas'), { width: Math.round(width * part), height: Math.round(height * part) });
  canvas.getContext('2d').drawImage(video, 0, 0, canvas.width, canvas.height);
  const file = await new Promise(done => canvas.toBlob(done, 'image/jpeg', 0.8));
  return file && { file, width: canvas.width, height: canvas.height, seconds: 0 };
}

// ---- What waits

// Names begin with the time at which they were given: what has waited longer than this is wanted by nobody.
const patienceMilliseconds = 7 * 24 * 60 * 60 * 1000;
let waiting = Promise.resolve(null);      // of a database; null where nothing is kept

onStoreOpened(openFiles);

function openFiles(store) {
  if (store === '') return;
  waiting = new Promise(opened => {
    const request = indexedDB.open(store + ' files', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('files');
    request.onerror = () => opened(null);
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      opened(request.result);
    };
  }).catch(() => null);
  const names = IDBKeyRange.upperBound(String(Date.now() - patienceMilliseconds));
  change(kept => kept.delete(names));
}

async function change(run) {
  try { run((await waiting)?.transaction('files', 'readwrite').objectStore('files')); } catch { /* Then it lasts as long as the page. */ }
}

const names = new WeakMap();              // File -> its name
const places = new WeakMap();             // File -> where a server has begun to take it in parts (uploads.js)
const placeName = name => name + ' place';

export const nameOf = file => names.get(file);

export function keepFile(file, name) {
  names.set(file, name);
  change(kept => kept.put(file, name));
}

// With its place, which comes back: it is read before both go.
export function dropFile(name) {
  const place = find(placeName(name));
  change(kept => kept.delete(IDBKeyRange.bound(name, placeName(name))));
  return place;
}

export const dropFiles = () => change(kept => kept.clear());

// Returns the file of that name that was kept before the page was reloaded, or undefined.
export async function findFile(name) {
  const file = await find(name);
  if (file) names.set(file, name);
  return file;
}

async function find(name) {
  const database = await waiting;
  if (database === null) return undefined;
  return new Promise(found => {
    try {
      const request = database.transaction('files').objectStore('files').get(name);
      request.onsuccess = () => found(request.result);
      request.onerror = () => found(undefined);
    } catch {
      // The connection was closed since: somebody clears what the page keeps.
      found(undefined);
    }
  });
}

// ---- Where they go

export const placeOf = async file => places.get(file) ?? (names.has(file) ? find(placeName(names.get(file))) : undefined);

export function keepPlace(file, place) {
  places.set(file, place);
  if (names.has(file)) change(kept => kept.put({ ...place }, placeName(names.get(file))));
}

export function dropPlace(file) {
  places.delete(file);
  if (names.has(file)) change(kept => kept.delete(placeName(names.get(file))));
}
