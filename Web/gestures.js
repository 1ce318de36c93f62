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
