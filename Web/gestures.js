// What fingers do beyond touching: a message is swiped to be answered, the times of all are drawn in from the side, a room's line is drawn
// aside for its menu or to be read, a button is held.
// Scrolling stays the browser's (touch-action: pan-y): where it begins to, it takes the finger back (pointercancel).

export const calm = matchMedia('(prefers-reduced-motion: reduce)');
// Until a finger has moved so far nobody knows what it wants.
export const startPixels = 10;
// A swipe that goes so far is one; the times go no further, a message a little.
export const readyPixels = 56;
const reachPixels = 76;
// The browser's own way back begins there.
const edgePixels = 24;
// So much a list scrolls in a frame while something is carried along its edge.
const scrollPixels = 8;
const holdMilliseconds = 300, awayPixels = 90, lockPixels = 70;

// 1 where text runs to the right.
export const way = () => (document.documentElement.dir === 'rtl' ? -1 : 1);
const shake = () => navigator.vibrate?.(10);

// tell(row): it is to be answered. What a finger does stands in an attribute: the program sets the classes anew where a row changes.
export function listenForSwipes(scroller, tell) {
  const list = scroller.querySelector('.mg-window');
  let finger = null;

  const draw = pixels => {
    const moved = finger.row ?? list;
    const shown = Math.min(Math.abs(pixels), finger.row ? reachPixels : readyPixels);
    if ((shown >= readyPixels) !== finger.isReady) {
      finger.isReady = !finger.isReady;
      if (finger.row) finger.row.dataset.swipe = finger.isReady ? 'ready' : 'begun';
      if (finger.isReady && finger.row) shake();
    }
    // Who wants no motion sees what it does at once, and nothing slides.
    const place = !calm.matches ? shown : finger.row || !finger.isReady ? 0 : readyPixels;
    finger.at = `${Math.sign(pixels) * way() * place}px`;
    moved.style.translate = finger.at;
  };

  const end = isDone => {
    if (!finger) return;
    const { row, at, isReady, isSwipe } = finger;
    finger = null;
    if (!isSwipe) return;
    const moved = row ?? list;
    moved.style.translate = '';
    delete row?.dataset.swipe;
    const over = () => { if (!row && !finger) delete scroller.dataset.times; };
    if (calm.matches || !at) over();
    else moved.animate([{ translate: at }, { translate: '0' }], { duration: 180, easing: 'ease-out' }).finished.then(over, over);
    if (isDone && isReady && row) tell(row);
  };

  scroller.addEventListener('pointerdown', e => {
    if (e.pointerType !== 'touch' || !e.isPrimary || e.target.closest('input')) return;
    if (e.clientX < edgePixels || e.clientX > innerWidth - edgePixels) return;
    finger = { id: e.pointerId, x: e.clientX, y: e.clientY, row: e.target.closest('.mg-message'), isSwipe: false, isReady: false, at: '' };
  });
  scroller.addEventListener('pointermove', e => {
    if (e.pointerId !== finger?.id) return;
    const pixels = (e.clientX - finger.x) * way();
    if (!finger.isSwipe) {
      const across = Math.abs(pixels), along = Math.abs(e.clientY - finger.y);
      if (Math.max(across, along) < startPixels) return;
      if (along * 1.5 > across || pixels > 0 && !finger.row) {
        // Who pulls the list down reads, and has no use for the keyboard on the screen.
        if (e.clientY - finger.y > across && document.activeElement?.closest('.mg-composer')) document.activeElement.blur();
        finger = null;
        return;
      }
      finger.isSwipe = true;
      if (pixels < 0) finger.row = null;
      if (finger.row) finger.row.dataset.swipe = 'begun'; else scroller.dataset.times = '';
      scroller.setPointerCapture(e.pointerId);
    }
    draw(finger.row ? Math.max(0, pixels) : Math.min(0, pixels));
  });
  scroller.addEventListener('pointerup', e => { if (e.pointerId === finger?.id) end(true); });
  scroller.addEventListener('pointercancel', () => end(false));
}

// A line of the list of rooms is drawn aside: towards its end what can be done with it opens, towards its start it is read, or unread. What
// will happen stands below the line meanwhile. Its item has the marks: the program sets those of the line.
let drawn = null;
const marks = ['ma-drawn', 'ma-drawn-over', 'ma-drawn-ready'];

function letGo(isDone) {
  const { line, at, isReady, isOver } = drawn;
  drawn = null;
  line.style.translate = '';
  const over = () => { if (drawn?.line !== line) line.parentNode?.classList.remove(...marks); };
  line.parentNode.classList.remove('ma-drawn-ready');
  if (calm.matches || !at) over();
  else line.animate([{ translate: at }, { translate: '0' }], { duration: 180, easing: 'ease-out' }).finished.then(over, over);
  if (!isDone || !isReady) return;
  if (isOver) line.dispatchEvent(new Event('aside', { bubbles: true }));
  else line.parentNode.querySelector('.ma-entry-more').click();
}

addEventListener('pointerdown', e => {
  if (drawn) letGo(false);
  const line = e.pointerType === 'touch' && e.isPrimary && e.target.closest('.ma-entry');
  const isAtEdge = e.clientX < edgePixels || e.clientX > innerWidth - edgePixels;
  drawn = line && !isAtEdge ? { line, id: e.pointerId, x: e.clientX, y: e.clientY, at: '', isReady: false, isOver: false } : null;
});
addEventListener('pointermove', e => {
  if (e.pointerId !== drawn?.id) return;
  const pixels = e.clientX - drawn.x, across = Math.abs(pixels), along = Math.abs(e.clientY - drawn.y);
  if (drawn.at === '') {
    if (Math.max(across, along) < startPixels) return;
    if (along * 1.5 > across) {
      drawn = null;
      return;
    }
  }
  const isReady = across >= readyPixels;
  if (isReady && !drawn.isReady) shake();
  drawn.isReady = isReady;
  drawn.isOver = pixels * way() > 0;
  [true, drawn.isOver, isReady].forEach((isOn, i) => drawn.line.parentNode.classList.toggle(marks[i], isOn));
  drawn.at = `${Math.sign(pixels) * Math.min(across, reachPixels)}px`;
  if (!calm.matches) drawn.line.style.translate = drawn.at;
});
addEventListener('pointerup', e => { if (e.pointerId === drawn?.id) letGo(true); });
addEventListener('pointercancel', e => { if (e.pointerId === drawn?.id) letGo(false); });

// Children of the list that have data-movable are put in another order: the mouse carries one along, a finger holds it for a moment first, so
// that the list can still be scrolled. tell(child, index): it was let go there, counted among the other ones. Escape puts it back.
export function listenForReorder(list, tell) {
  let carried = null;

  const lift = () => {
    carried.item.classList.remove('ma-held');
    const all = [...list.children].filter(child => 'movable' in child.dataset);
    const places = all.map(child => child.getBoundingClientRect());
    if (all.length < 2) return drop(false);
    const isRow = getComputedStyle(list).flexDirection === 'row';
    const start = box => (isRow ? box.left : box.top), size = box => (isRow ? box.width : box.height);
    const index = all.indexOf(carried.item);
    const from = Math.abs(start(places[1]) - start(places[0]));
    Object.assign(carried, { all, isRow, index, to: index, step: from, middles: places.map(box => start(box) + size(box) / 2) });
    carried.scroll = isRow ? list.scrollLeft : list.scrollTop;
    carried.sign = isRow ? way() : 1;
    list.classList.add('ma-reordering');
    carried.item.classList.add('ma-carried');
    follow();
  };

  // Scrolls on while the pointer is at an end of the list; what has moved below it has moved, too.
  const follow = () => {
    if (!carried?.all) return;
    if (!carried.item.isConnected) return drop(false);
    const { all, isRow, index, middles, step, sign } = carried;
    const box = list.getBoundingClientRect();
    const at = isRow ? carried.now.x : carried.now.y, low = isRow ? box.left : box.top, high = isRow ? box.right : box.bottom;
    const pull = at < low + edgePixels ? -1 : at > high - edgePixels ? 1 : 0;
    if (pull) list[isRow ? 'scrollLeft' : 'scrollTop'] += pull * scrollPixels;
    const scrolled = (isRow ? list.scrollLeft : list.scrollTop) - carried.scroll;
    const moved = (isRow ? carried.now.x - carried.x : carried.now.y - carried.y) + scrolled;
    const middle = middles[index] + moved;
    carried.to = middles.filter((other, i) => i !== index && (middle - other) * sign > 0).length;
    for (const [i, child] of all.entries()) {
      const aside = i === index ? moved : i > index && i <= carried.to ? -step * sign : i < index && i >= carried.to ? step * sign : 0;
      child.style.translate = isRow ? `${aside}px` : `0 ${aside}px`;
    }
    carried.frame = requestAnimationFrame(follow);
  };

  const drop = isDone => {
    if (!carried) return;
    const { all, item, index, to, timer, frame } = carried;
    carried = null;
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    item.classList.remove('ma-held');
    if (!all) return;
    list.classList.remove('ma-reordering');
    item.classList.remove('ma-carried');
    for (const child of all) child.style.translate = '';
    // Letting go is no press.
    const swallow = e => { e.preventDefault(); e.stopPropagation(); };
    addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener('click', swallow, true), 50);
    if (isDone && to !== index) tell(item, to);
  };

  list.addEventListener('pointerdown', e => {
    drop(false);
    const item = e.target.closest('[data-movable]');
    if (!item || !e.isPrimary || e.button !== 0) return;
    const isTouch = e.pointerType === 'touch';
    carried = { item, id: e.pointerId, x: e.clientX, y: e.clientY, now: { x: e.clientX, y: e.clientY }, isFree: !isTouch };
    if (!isTouch) return;
    const held = carried;
    held.timer = setTimeout(() => { held.isFree = true; held.item.classList.add('ma-held'); shake(); }, holdMilliseconds);
  });
  addEventListener('pointermove', e => {
    if (e.pointerId !== carried?.id) return;
    carried.now = { x: e.clientX, y: e.clientY };
    if (carried.all || Math.hypot(e.clientX - carried.x, e.clientY - carried.y) < startPixels) return;
    if (carried.isFree) lift();
    else drop(false);
  });
  addEventListener('pointerup', e => { if (e.pointerId === carried?.id) drop(true); });
  addEventListener('pointercancel', e => { if (e.pointerId === carried?.id) drop(false); });
  // A finger that holds one does not scroll.
  list.addEventListener('touchmove', e => { if (carried?.isFree) e.preventDefault(); }, { passive: false });
  list.addEventListener('contextmenu', () => drop(false), true);
  list.addEventListener('dragstart', e => e.preventDefault());
  addEventListener('keydown', e => {
    if (e.key !== 'Escape' || !carried?.all) return;
    e.preventDefault();
    drop(false);
  }, true);
}

// tell(phase): 0 a finger holds the button, 1 it let go, 2 it slid away, 3 it slid up and need not hold any more.
export function listenForHold(button, tell) {
  button.style.touchAction = 'none';
  button.addEventListener('contextmenu', e => e.preventDefault());
  button.addEventListener('pointerdown', down => {
    if (down.pointerType !== 'touch' || !down.isPrimary) return;
    let isHeld = false;
    const over = new AbortController();
    const timer = setTimeout(() => { isHeld = true; shake(); tell(0); }, holdMilliseconds);
    const end = phase => {
      clearTimeout(timer);
      over.abort();
      if (isHeld) tell(phase);
    };
    // The button is hidden meanwhile: the window hears of the finger in any case.
    const listen = (type, hear) => addEventListener(type, e => { if (e.pointerId === down.pointerId) hear(e); }, { signal: over.signal });
    listen('pointermove', e => {
      if (!isHeld) return;
      if ((down.clientX - e.clientX) * way() > awayPixels) end(2);
      else if (down.clientY - e.clientY > lockPixels) end(3);
    });
    listen('pointerup', () => end(1));
    listen('pointercancel', () => end(2));
  });
}

// tell(phase, pixels): 0 an edge is taken, 1 it was dragged so far down from there, 2 it was let go, 3 it was pressed twice.
export function listenForDrag(edge, tell) {
  let from = null;
  edge.style.touchAction = 'none';
  edge.addEventListener('pointerdown', e => {
    if (!e.isPrimary || e.button !== 0) return;
    from = { id: e.pointerId, y: e.clientY };
    edge.setPointerCapture(e.pointerId);
    tell(0, 0);
  });
  edge.addEventListener('pointermove', e => { if (e.pointerId === from?.id) tell(1, e.clientY - from.y); });
  for (const name of ['pointerup', 'pointercancel']) edge.addEventListener(name, e => {
    if (e.pointerId !== from?.id) return;
    const pixels = e.clientY - from.y;
    from = null;
    tell(2, name === 'pointerup' ? pixels : 0);
  });
  edge.addEventListener('dblclick', () => tell(3, 0));
}

// ---- Menus

const menuMilliseconds = 600;

// A finger that rests on what has a menu opens it. Browsers tell of that as of the mouse's other button; iOS does not.
function followResting() {
  let finger = null;
  const end = () => { clearTimeout(finger?.timer); finger = null; };

  addEventListener('pointerdown', e => {
    end();
    if (e.pointerType !== 'touch' || !e.isPrimary || !e.target.closest('.mg-message, .ma-entry, .ma-rail-item')) return;
    const { target, clientX, clientY } = e;
    const timer = setTimeout(() => {
      end();
      target.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX, clientY }));
      // The finger that goes up then presses nothing.
      const swallow = e => { e.preventDefault(); e.stopPropagation(); };
      addEventListener('click', swallow, { capture: true, once: true });
      addEventListener('pointerup', () => setTimeout(() => removeEventListener('click', swallow, true), 50), { once: true });
    }, menuMilliseconds);
    finger = { timer, x: clientX, y: clientY };
  }, true);
  addEventListener('pointermove', e => { if (finger && Math.hypot(e.clientX - finger.x, e.clientY - finger.y) > startPixels) end(); }, true);
  for (const name of ['pointerup', 'pointercancel', 'contextmenu']) addEventListener(name, end, true);
}

followResting();
