// What calls people back to the page: notifications with a sound, and the number of unread messages on the page's icon.

import { asShown, fetchMedia, isOfAccount } from './media.js';
import { setting, settings } from './settings.js';

export const service = program => ({
  page_set_title: text => showTitle(text),
  // The icon is that of the page around.
  page_set_badge(count) { if (!program.frame) showBadge(count); },
  notification_show: (id, [picture, tag, title, text]) => showNotification(() => program.dispatch(id), picture, tag, title, text),
  notification_withdraw: withdrawNotification,
  notification_sound: playSound,
});

const shown = new Map(), onClick = new Map();

// What has been read, here or elsewhere, is no news.
function withdrawNotification(tag) {
  coming.delete(tag);
  shown.get(tag)?.close();
  shown.delete(tag);
  onClick.delete(tag);
  navigator.serviceWorker?.ready.then(worker => worker.getNotifications({ tag })).then(all => { for (const one of all) one.close(); }).catch(() => {});
}

// What the service worker shows and what the page shows of a room is one notification where both are its.
const isPushedTo = () => { try { return settings().getItem('pushes') !== null; } catch { return false; } };

// Between two times of the day, over midnight too, nobody is told of anything; nor who does not want to be disturbed for some time.
function isQuiet() {
  if (Number(setting('snoozed-until')) > Date.now()) return true;
  const [from, until] = [setting('quiet-from'), setting('quiet-until')], now = new Date().toTimeString().slice(0, 5);
  if (from === '' || until === '' || from === until) return false;
  return from < until ? from <= now && now < until : from <= now || now < until;
}

const plainPicture = 'icon-192.png', pictureMilliseconds = 1000, pictureBytesLimit = 1 << 20;

// Returns the picture as a data URL that the system can show, or the page's icon if it does not load in time.
async function pictureAt(source, milliseconds) {
  const abort = new AbortController(), timer = setTimeout(() => abort.abort(), milliseconds);
  try {
    const reader = new FileReader(), picture = asShown(await fetchMedia(source, abort.signal, undefined, () => pictureBytesLimit));
    const read = new Promise((done, failed) => { reader.onload = done; reader.onerror = failed; });
    reader.readAsDataURL(picture);
    await read;
    return reader.result;
  } catch {
    return plainPicture;
  } finally {
    clearTimeout(timer);
  }
}

// Tags of those whose picture is awaited, with the newest of each and how long the first is to wait.
const coming = new Map();

// `source`: of the sender's picture. Nothing is fetched that is not the account's.
export async function showNotification(clicked, source, tag, title, body) {
  if (isQuiet()) return;
  let icon = plainPicture;
  if (isOfAccount(source)) {
    const now = performance.now(), own = { deadline: coming.get(tag)?.deadline ?? now + pictureMilliseconds };
    coming.set(tag, own);
    icon = await pictureAt(source, own.deadline - now);
    // Read meanwhile, or there is a newer one.
    if (coming.get(tag) !== own) return;
  }
  coming.delete(tag);
  const options = { body, tag, silent: true, icon };
  try {
    if (!isPushedTo()) {
      const notification = new Notification(title, options);
      shown.set(tag, notification);
      notification.onclick = () => { focus(); notification.close(); clicked(); };
      return;
    }
  } catch {
    // Some phones have them only for service workers.
  }
  // sw.js tells of a click.
  onClick.set(tag, clicked);
  navigator.serviceWorker?.ready.then(worker => worker.showNotification(title, options)).catch(() => {});
}

const roomInAddress = () => { try { return decodeURIComponent(location.hash.split('room/')[1]?.split('/')[0] ?? ''); } catch { return ''; } };

// What was told of a room ends with looking at it, reactions too, which are never unread.
export function withdrawOfRoom() {
  const room = roomInAddress();
  if (room !== '' && (isPushedTo() || shown.has(room))) withdrawNotification(room);
}

addEventListener('popstate', withdrawOfRoom);
addEventListener('focus', withdrawOfRoom);

navigator.serviceWorker?.addEventListener('message', ({ data, ports }) => {
  if (data.pushed !== undefined) {
    ports[0].postMessage(document.visibilityState === 'visible' && (document.hasFocus() || roomInAddress() === data.pushed));
  } else if (data.clicked !== undefined) {
    if (onClick.has(data.clicked)) onClick.get(data.clicked)(); else location.hash = '#/room/' + encodeURIComponent(data.clicked);
  }
});

let sounds = null;

function playSound() {
  if (isQuiet()) return;
  try {
    sounds ??= new AudioContext();
    const at = sounds.currentTime, tone = sounds.createOscillator(), volume = sounds.createGain();
    tone.frequency.setValueAtTime(660, at);
    tone.frequency.setValueAtTime(880, at + 0.09);
    volume.gain.setValueAtTime(0.0001, at);
    volume.gain.exponentialRampToValueAtTime(0.12, at + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.35);
    tone.connect(volume).connect(sounds.destination);
    tone.start(at);
    tone.stop(at + 0.4);
  } catch {
    // No sound card, or nobody has touched the page yet.
  }
}

let badgeURL = '', plainIcon = null;

// In a room one reads figures go up and down with each message: what they are some time later is shown.
function later(milliseconds, show) {
  let timer = 0, newest, shown;
  return value => {
    newest = value;
    timer ||= setTimeout(() => { timer = 0; if (newest !== shown) show(shown = newest); }, milliseconds);
  };
}

const showTitle = later(100, text => { document.title = text; });
const showBadge = later(300, drawBadge);

function drawBadge(count) {
  if (count > 0) navigator.setAppBadge?.(count)?.catch?.(() => {}); else navigator.clearAppBadge?.()?.catch?.(() => {});
  const link = document.querySelector('link[rel~=icon]');
  if (!link) return;
  plainIcon ??= link.href;
  const icon = new Image();
  const set = url => {
    link.href = url;
    if (badgeURL !== '') URL.revokeObjectURL(badgeURL);
    badgeURL = url === plainIcon ? '' : url;
  };
  if (count <= 0) { set(plainIcon); return; }
  icon.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 64;
    const c = canvas.getContext('2d');
    c.drawImage(icon, 0, 0, 64, 64);
    c.fillStyle = '#e0314b';
    c.beginPath();
    c.arc(44, 44, 20, 0, 7);
    c.fill();
    c.fillStyle = '#fff';
    c.font = 'bold 26px sans-serif';
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillText(count > 99 ? '∞' : count, 44, 45);
    canvas.toBlob(blob => { if (blob) set(URL.createObjectURL(blob)); });
  };
  icon.src = plainIcon;
}
