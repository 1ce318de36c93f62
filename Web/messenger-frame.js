// Between the page that embeds <martlet-messenger> and the program in this frame. Only the page around this one is heard, and only on
// the port that it gave; what it may ask for is what the program answers.
//
// The first request says what the frame is: rows that the page fills (MessengerElement.wasm) or, with a homeserver, the client with
// one room of it (app.wasm). That one never touches what the client keeps that runs as a page of its own: it has a store in memory
// or, with `keep`, one for this embedding page, this homeserver and this room alone.

const root = document.getElementById('app');
const encoder = new TextEncoder(), decoder = new TextDecoder();
const early = [];
const given = Object.create(null);   // settings that the page decides
let port = null, isLoaded = false, isClient = false, startNumber = 0;

// ---- The program

// What host.js takes for the program's channel to its page.
const frame = root.frame = {
  onmessage: null, wishes: '', settings: null, address: location.origin + location.pathname, leave: null, isHidden: false,
  postMessage(bytes) { fromProgram(JSON.parse(decoder.decode(bytes))); },
};

function toProgram(request) {
  if (isLoaded) frame.onmessage({ data: encoder.encode(JSON.stringify(request)) }); else early.push(request);
}

async function fromProgram(message) {
  if (message.event === 'loaded') {
    isLoaded = true;
    if (isClient) port.postMessage({ answer: startNumber });
    for (const request of early.splice(0)) toProgram(request);
    return;
  }
  port.postMessage(message);
  if (message.event === 'error' && message.isFinal) {
    const [{ notice }, { word }] = await Promise.all([import('./page.js'), import('./language.js')]);
    notice(message.message, word('reload'));
  }
}

async function start(request, page) {
  isClient = request.homeserver !== undefined;
  if (isClient) {
    await becomeClient(request, page);
  } else {
    delete root.dataset.languages;
    root.dataset.program = 'MessengerElement.wasm';
    toProgram(request);
  }
  await import('./host.js');
}

// ---- The client

async function becomeClient({ number, homeserver, room, guest, keep, readonly, bubbles, oneReaction, commands, language, theme }, page) {
  startNumber = number;
  // Pages without an origin of their own (sandboxed, of a file) are all called null: nothing is kept for those.
  const store = keep && page !== 'null' ? ['martlet', page, homeserver, room].join(' ') : '';
  frame.wishes = JSON.stringify({ page, homeserver, room, guest, readonly, bubbles, oneReaction, commands, store });
  frame.settings = settings(store);
  Object.assign(given, { language, theme });
  prepareSignOn();
  document.documentElement.dataset.embedded = '';
  const sheet = document.createElement('link');
  Object.assign(sheet, { rel: 'stylesheet', href: 'app.css' });
  document.querySelector('link').after(sheet);
  await new Promise(done => { sheet.onload = sheet.onerror = done; });
}

function settings(store) {
  const kept = new Map();
  const memory = { getItem: key => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value), removeItem: key => kept.delete(key) };
  const place = () => store === '' ? memory : localStorage;
  return {
    getItem: key => given[key] ?? place().getItem(store + ' ' + key),
    setItem: (key, value) => place().setItem(store + ' ' + key, value),
    removeItem: key => place().removeItem(store + ' ' + key),
  };
}

// ---- Single sign-on: providers do not show their pages in frames. It goes on in a window of its own, which ends here again, with the
// word that only this frame knows.

const signOnChannel = 'martlet-sign-on';

function prepareSignOn() {
  const secret = crypto.randomUUID();
  let signOnWindow = null;
  frame.address += '?frame=' + secret;
  frame.leave = url => { signOnWindow = open(url, '_blank'); };
  const take = ({ secret: said, loginToken }) => {
    if (signOnWindow === null || said !== secret) return;
    signOnWindow = null;
    toProgram({ do: 'signIn', loginToken, number: 0 });
  };
  new BroadcastChannel(signOnChannel).onmessage = ({ data }) => take(data);
  addEventListener('message', ({ source, origin, data }) => { if (source !== null && source === signOnWindow && origin === location.origin) take(data); });
}

const returned = new URLSearchParams(location.search);
if (parent === window && returned.has('loginToken')) {
  const said = { secret: returned.get('frame'), loginToken: returned.get('loginToken') };
  history.replaceState(null, '', location.pathname);
  new BroadcastChannel(signOnChannel).postMessage(said);
  opener?.postMessage(said, location.origin);
  setTimeout(() => close(), 500);
}

// ---- The page around

// A closed widget is like a tab in the background: nothing in it is read.
function show(isShown) {
  frame.isHidden = !isShown;
  document.dispatchEvent(new Event('visibilitychange'));
}

// Escape that nothing in here wanted is for the page around: a widget closes. Looked at when everybody has had the key.
addEventListener('keydown', event => {
  if (event.key !== 'Escape' || event.isComposing || event.target.matches?.('select')) return;
  setTimeout(() => { if (!event.defaultPrevented) port?.postMessage({ event: 'escape' }); });
});

async function restyle({ properties, theme }) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('--mg-')) document.documentElement.style.setProperty(name, value);
  }
  if (!isClient) {
    document.documentElement.style.colorScheme = theme || 'light dark';
  } else {
    given.theme = theme;
    if (isLoaded) (await import('./look.js')).applyLook();
  }
}

addEventListener('message', ({ source, origin, data, ports }) => {
  if (source !== parent || parent === window || data !== 'martlet-messenger' || port !== null || ports.length === 0) return;
  port = ports[0];
  port.onmessage = ({ data: request }) => {
    if (request.do === 'style') restyle(request);
    else if (request.do === 'shown') show(request.isShown);
    else if (request.do === 'start') start(request, origin);
    else toProgram(request);
  };
  port.postMessage({ event: 'here' });
});
