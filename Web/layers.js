// The entries of the history that the page makes: one for each place, and on a phone one for each layer over it, so that the system's Back closes
// one layer at a time: a dialog, a menu, what lies over the messages. The entry of a layer has its number, and the place below it; its address is
// that of the place. Going back from it presses Escape in that layer. A layer that closes by itself takes its entry along.

// A traversal that no event ends was none: there was no such entry.
const arrivalMilliseconds = 1000;

let root = null;
// Browsers go back later than they are asked to, and join what they are asked for meanwhile. What would push or replace an entry waits until then,
// as it would meet the one that is being left.
let returning = null;
const waiting = [];
// The place of the page: what its entry and those of its layers have in common.
let place, address;

const depth = () => history.state?.layer ?? 0;

// From the bottom to the top.
function layers() {
  const side = root?.querySelector('.ma-shows-panel .ma-side');
  return [...side ? [side] : [], ...root?.querySelectorAll('.ma-overlay:not([data-gone])') ?? []];
}

function look() {
  place = history.state?.place;
  address = location.href;
}

// Entries as many as layers.
function follow() {
  if (returning) return;
  const { length } = layers(), entry = depth();
  if (entry > length) { goBack(entry - length, true); return; }
  for (let layer = entry + 1; layer <= length; layer++) {
    if (history.state?.place === undefined) history.replaceState({ place: crypto.getRandomValues(new Uint32Array(1))[0] }, '');
    history.pushState({ ...history.state, layer }, '');
  }
  look();
}

// isQuiet: the page stays where it is, and need not hear of it.
function goBack(steps, isQuiet) {
  look();
  const timer = setTimeout(() => {
    history.replaceState({ ...history.state, layer: layers().length }, '');
    arrive();
  }, arrivalMilliseconds);
  returning = { timer, isQuiet, to: depth() - steps };
  history.go(-steps);
}

function arrive() {
  clearTimeout(returning?.timer);
  returning = null;
  look();
  for (const [address, isReplacing] of waiting.splice(0)) setAddress(address, isReplacing);
  follow();
}

function close(count) {
  for (const layer of layers().slice(count).reverse()) {
    const target = layer.contains(document.activeElement) ? document.activeElement : layer;
    target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
  }
}

addEventListener('popstate', e => {
  const entry = depth(), { length } = layers(), isHere = place !== undefined && history.state?.place === place;
  const isOurs = returning !== null, isQuiet = isHere && (!isOurs || returning.isQuiet);
  // The address may have changed while layers lay over the place.
  if (isHere && address !== location.href) history.replaceState(history.state, '', address);
  // What is no layer's any more is passed.
  const isGhost = !isOurs && entry > length;
  if (isQuiet || isGhost) e.stopImmediatePropagation();
  if (isGhost) { goBack(entry - length, isHere); return; }
  // Somebody has gone back, perhaps further than the page has.
  if (isHere && entry < (isOurs ? Math.min(returning.to, length) : length)) close(entry);
  // Where the page goes elsewhere its layers close first.
  if (isQuiet) arrive(); else setTimeout(arrive);
}, true);

// `isReplacing`: the place stays, and is called something else; else the page goes to another, and its layers close.
export function setAddress(to, isReplacing) {
  if (returning) { waiting.push([to, isReplacing]); return; }
  if (isReplacing) history.replaceState(history.state, '', to);
  else history[depth() > 0 ? 'replaceState' : 'pushState'](null, '', to);
  look();
}

export function followLayers() {
  root = document.querySelector('#app');
  // Dialogs stand in the page's root; the panes say by a class that something lies over the messages.
  const panes = new MutationObserver(follow);
  new MutationObserver(() => {
    const body = root.querySelector('.ma-body');
    if (body) panes.observe(body, { attributes: true, attributeFilter: ['class'] });
    follow();
  }).observe(root, { childList: true });
}
