// The page as a whole: what it is like, what happens to it, and what a program does to it.

import { pageChanges, pageStates } from './host-protocol.js';
import { followLayers, setAddress } from './layers.js';
import { later } from './program.js';

const dark = matchMedia('(prefers-color-scheme: dark)');
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const narrow = matchMedia('(max-width: 719.98px)');
const attention = later('attention.js', () => import('./attention.js'));

export const pageService = program => {
  const { frame } = program;
  if (narrow.matches && !frame) followLayers();
  return {
    page_state: () => sum(program),
    page_listen: id => listen(change => program.dispatch(id, change)),
    page_fragment: () => location.hash.slice(1),
    page_origin: () => location.origin,
    page_query: () => location.search.slice(1),
    page_address: () => frame?.address ?? location.origin + location.pathname,
    page_embedding: () => frame?.wishes,
    page_browser_name: browserName,
    page_kept_word: () => keptWord('getItem'),
    page_keep_word: word => keptWord('setItem', word),
    page_set_fragment(fragment, isReplacing) {
      // The history around a frame is its page's.
      if (frame) return;
      setAddress(fragment === '' ? location.pathname + location.search : '#' + fragment, isReplacing);
      attention(({ withdrawOfRoom }) => withdrawOfRoom());
    },
    page_open: url => goTo(url => open(url, '_blank', 'noopener,noreferrer'), url),
    page_reload: () => location.reload(),
    page_clear_query: () => history.replaceState(history.state, '', location.pathname + location.hash),
    page_leave: url => goTo(frame?.leave ?? (url => location.assign(url)), url),
    async clipboard_write(id, text) {
      try { await navigator.clipboard.writeText(text); program.dispatch(id, 1); } catch { setTimeout(() => program.dispatch(id, 0)); }
    },
    notification_permission: permission,
    async notification_ask(id) {
      try { await globalThis.Notification?.requestPermission(); } catch { /* An old browser, with a callback: the state says all the same. */ }
      program.dispatch(id, permission());
    },
    object_url: file => program.objects.get(file)?.url?.(),
    revoke_url: url => URL.revokeObjectURL(url),
  };
};

// ---- What it is like

const states = ({ frame }) => ({
  online: navigator.onLine,
  visible: document.visibilityState === 'visible' && !frame?.isHidden,
  focused: document.hasFocus(),
  dark: dark.matches,
  reducedMotion: calm.matches,
  rightToLeft: document.documentElement.dir === 'rtl',
  canCall: globalThis.RTCPeerConnection && navigator.mediaDevices,
  canBePushedTo: !frame && 'serviceWorker' in navigator && 'PushManager' in globalThis,
  canShare: canShare(),
  narrow: narrow.matches,
  canFloat: document.pictureInPictureEnabled,
  canScan: 'BarcodeDetector' in globalThis && navigator.mediaDevices !== undefined,
  canSealMedia: 'RTCRtpScriptTransform' in globalThis && crypto.subtle !== undefined,
});

const sum = program => Object.entries(states(program)).reduce((sum, [name, isSo]) => isSo ? sum | pageStates[name] : sum, 0);

function canShare() {
  try { return navigator.canShare({ files: [new File([], 'a.png', { type: 'image/png' })] }); } catch { return false; }
}

// As NotificationPermission of Sources/Web/WebHost has them.
const permissions = { default: 1, granted: 2, denied: 3 };
const permission = () => typeof Notification === 'undefined' ? 0 : permissions[Notification.permission] ?? 0;

// ---- What happens to it

function listen(hear) {
  const tell = change => () => hear(change);
  addEventListener('online', tell(pageChanges.online));
  addEventListener('offline', tell(pageChanges.online));
  document.addEventListener('visibilitychange', tell(pageChanges.attention));
  addEventListener('focus', tell(pageChanges.attention));
  addEventListener('blur', tell(pageChanges.attention));
  // Not hashchange: history.pushState raises neither, going back and forth raises popstate in every case.
  addEventListener('popstate', tell(pageChanges.fragment));
  dark.addEventListener('change', tell(pageChanges.colourScheme));
  calm.addEventListener('change', tell(pageChanges.colourScheme));
  addEventListener('pagehide', tell(pageChanges.leaving));
  document.addEventListener('freeze', tell(pageChanges.leaving));
  addEventListener('keydown', e => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || e.key.toLowerCase() !== 'k') return;
    e.preventDefault();
    hear(pageChanges.quickSwitch);
  });
  // What nothing on the page wanted.
  addEventListener('keydown', e => {
    if (e.defaultPrevented || e.isComposing || e.altKey) return;
    const isControl = e.ctrlKey || e.metaKey, isWriting = e.target.matches?.('input, textarea, select, .ma-rich');
    if (isControl ? e.key === '/' : e.key === '?' && !isWriting) {
      e.preventDefault();
      hear(pageChanges.shortcuts);
    } else if (e.key === 'Escape' && !isControl && !e.shiftKey && !e.target.matches?.('input, select')) {
      hear(pageChanges.escape);
    }
  });
}

// ---- What is done to it

function goTo(go, url) {
  if (!/^https?:/i.test(url)) return;
  try {
    go(url);
  } catch {
    // What a homeserver calls an address need not be one.
  }
}

// Browsers throw if they let the page keep nothing.
function keptWord(act, ...word) {
  try { return sessionStorage[act]('martlet-word', ...word); } catch { return null; }
}

function browserName() {
  const agent = navigator.userAgent;
  const find = pairs => pairs.find(([mark]) => agent.includes(mark))?.[1];
  // Chromium calls itself Chrome where it is not asked by its brands.
  const isChromium = navigator.userAgentData?.brands.some(({ brand }) => brand === 'Chromium') && navigator.userAgentData.brands.length === 2;
  const browser = find([['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['Chrome/', isChromium ? 'Chromium' : 'Chrome'], ['Safari/', 'Safari']]);
  const system = find([['Android', 'Android'], ['iPhone', 'iOS'], ['iPad', 'iOS'], ['Windows', 'Windows'], ['Mac OS', 'macOS'], ['CrOS', 'ChromeOS'], ['Linux', 'Linux']]);
  return (browser ?? 'Browser') + (system ? ' on ' + system : '');
}

export function notice(message, action, run = () => location.reload()) {
  const box = document.createElement('div');
  box.className = 'mg-notice';
  box.setAttribute('role', 'alert');
  const sentence = document.createElement('p');
  sentence.textContent = message;
  box.append(sentence);
  if (action) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = action;
    button.addEventListener('click', run);
    box.append(button);
  }
  document.body.prepend(box);
  return () => box.remove();
}

// A page of another origin around this one could have people click here without seeing what on: the client as a page is for itself.
export function isInStrangersPage() {
  try {
    for (let page = window; page !== top; page = page.parent) if (page.parent.location.origin !== location.origin) return true;
    return false;
  } catch {
    return true;
  }
}
