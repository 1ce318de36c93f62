// Channels of a program: to other tabs, to the page around it, and to programs beside it. And locks, which one tab holds.

export const channelService = program => ({
  // `name`: '' for the page around, '#NAME' for the program NAME.wasm beside this one, else a BroadcastChannel's.
  channel_open(id, name) {
    const channel = name === '' ? program.frame : name.startsWith('#') ? openBeside(program, name.slice(1)) : new BroadcastChannel(name);
    channel.onmessage = e => program.dispatch(id, 0, 0, 0, e.data);
    program.objects.set(id, { channel, stop: () => channel.close?.() });
  },
  channel_post(id, message) { program.objects.get(id)?.channel.postMessage(message); },

  lock(id, name) {
    if (!navigator.locks) { setTimeout(() => program.dispatch(id)); return; }
    const abort = new AbortController();
    let free;
    program.objects.set(id, { stop: () => { abort.abort(); free?.(); } });
    navigator.locks.request(name, { signal: abort.signal }, () => new Promise(done => {
      free = done;
      if (program.objects.has(id)) program.dispatch(id); else done();
    })).catch(() => {});
  },
});

// Programs beside the page's own, by name. Each draws into an element of its own, which moves to where it is wanted: the element with its name
// as ID.
const programs = new Map();

function openBeside(program, name) {
  const other = programs.get(name) ?? startBeside(program, name);
  document.getElementById(name)?.append(other.place);
  return other.channel;
}

function startBeside(program, name) {
  const place = document.createElement('div'), early = [];
  let isLoaded = false;
  place.className = 'mg-program';
  const channel = { onmessage: null, postMessage(bytes) { if (isLoaded) place.frame.onmessage({ data: bytes }); else early.push(bytes); } };
  place.frame = {
    onmessage: null,
    // Its first word is that it is there.
    postMessage(bytes) {
      if (isLoaded) { channel.onmessage({ data: bytes }); return; }
      isLoaded = true;
      queueMicrotask(() => { for (const said of early.splice(0)) place.frame.onmessage({ data: said }); });
    },
  };
  const { sheet, isThere } = styleSheet(new URL(name + '.css', import.meta.url));
  // It is loaded anew when it is opened next.
  const onUnreachable = () => {
    programs.delete(name);
    place.remove();
    sheet.remove();
    channel.onmessage({ data: '{"event":"unreachable"}' });
  };
  queueMicrotask(() => program.beside(new URL(name + '.wasm', import.meta.url), place, onUnreachable).run(isThere));
  const other = { place, channel };
  programs.set(name, other);
  return other;
}

function styleSheet({ href }) {
  const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  const isThere = new Promise((done, failed) => {
    sheet.onload = done;
    sheet.onerror = () => failed(new Error(href + ' cannot be had'));
  });
  document.head.append(sheet);
  return { sheet, isThere };
}
