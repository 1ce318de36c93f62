// Programs beside this one in the page, by name. Each draws into an element of its own, which moves to where it is wanted.
const programs = new Map();

export function openProgram(name) {
  const program = programs.get(name) ?? startProgram(name);
  document.getElementById(name)?.append(program.place);
  return program.channel;
}

function startProgram(name) {
  const place = document.createElement('div'), sheet = document.createElement('link'), early = [];
  let isLoaded = false;
  place.className = 'mg-program';
  place.dataset.program = name + '.wasm';
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
  Object.assign(sheet, { rel: 'stylesheet', href: new URL(name + '.css', import.meta.url).href });
  document.head.append(sheet);
  queueMicrotask(() => import('./host.js?' + name));
  const program = { place, channel };
  programs.set(name, program);
  return program;
}
