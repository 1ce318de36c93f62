// What fingers do to a picture that is shown large: two pinch it, one moves what is enlarged or swipes to the next picture, a touch of what is
// enlarged takes it back. The program has no part in it: its buttons are pressed, and another picture begins anew.

import { calm, readyPixels, startPixels, way } from './gestures.js';

const scaleLimit = 6;

const fingers = new Map();   // id -> where it is
// The picture that is touched: how large it is, how far from its place, and whether two fingers touched it since the first came.
let view = null;
let from = null;             // how it was when the number of fingers changed, and how they held it
let isTakenBack = false;     // by the touch that has just ended

// The middle between the fingers and how far they are apart; one alone is always as far from itself.
function hold() {
  const [a, b = a] = fingers.values();
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, spread: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
}

function draw() {
  const { image, scale, x, y } = view;
  image.style.transform = scale === 1 && x === 0 ? '' : `translate(${x}px, ${y}px) scale(${scale})`;
}

function take() {
  if (fingers.size > 1) view.isPinched = true;
  from = { ...view, grip: hold() };
}

function move() {
  const now = hold(), { grip } = from;
  if (!view.isPinched && from.scale === 1) {
    const across = now.x - grip.x;
    view.x = Math.abs(across) > Math.max(startPixels, Math.abs(now.y - grip.y)) ? across : 0;
    return draw();
  }
  view.scale = Math.max(1, Math.min(scaleLimit, from.scale * now.spread / grip.spread));
  // What is under the fingers stays there.
  const area = view.box.getBoundingClientRect(), times = view.scale / from.scale;
  const [x, y] = [area.left + area.width / 2, area.top + area.height / 2];
  view.x = now.x - x - times * (grip.x - x - from.x);
  view.y = now.y - y - times * (grip.y - y - from.y);
  draw();
}

// Nothing stays empty beside what is enlarged, and what is not stands in its place.
function settle() {
  const { image, box, scale } = view, before = image.style.transform;
  const within = (place, size, room) => {
    const limit = Math.max(0, size * scale - room) / 2;
    return Math.max(-limit, Math.min(limit, place));
  };
  view.x = within(view.x, image.offsetWidth, box.clientWidth);
  view.y = within(view.y, image.offsetHeight, box.clientHeight);
  draw();
  if (!calm.matches && before) image.animate([{ transform: before }, { transform: image.style.transform || 'none' }], { duration: 180, easing: 'ease-out' });
}

function lift(id, isDone) {
  if (!fingers.delete(id)) return;
  if (fingers.size > 0) return take();
  const { box, x, y, scale, isPinched } = view;
  view.isPinched = false;
  isTakenBack = isDone && !isPinched && scale > 1 && Math.hypot(x - from.x, y - from.y) < startPixels;
  if (isTakenBack) view.scale = 1;
  settle();
  if (!isDone || isPinched || scale > 1 || Math.abs(x) < readyPixels) return;
  box.closest('.ma-viewer-stage').querySelector(x * way() < 0 ? '.ma-viewer-next' : '.ma-round:not(.ma-viewer-next)')?.click();
}

addEventListener('pointerdown', e => {
  // A video's own controls are under the finger. What a touch has shown in its own size is scrolled by the browser.
  const box = e.target.closest?.('.ma-viewer-box:not(.ma-viewer-large)');
  isTakenBack = false;
  if (e.pointerType !== 'touch' || !box || e.target.closest('video') || fingers.size > 1) return;
  const image = box.querySelector('.ma-viewer-image');
  if (view?.image !== image) {
    fingers.clear();
    view = { image, box, scale: 1, x: 0, y: 0, isPinched: false };
  }
  fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  take();
});
addEventListener('pointermove', e => {
  if (!fingers.has(e.pointerId)) return;
  fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  move();
});
addEventListener('pointerup', e => lift(e.pointerId, true));
addEventListener('pointercancel', e => lift(e.pointerId, false));
// No click follows a touch that comes soon after a quick move, so the finger itself takes it back; a click that does follow has nothing left to do.
addEventListener('click', e => {
  if (view?.image !== e.target || (view.scale === 1 && !isTakenBack)) return;
  e.stopPropagation();
  view.scale = 1;
  settle();
}, true);
