// Before a call (Sources/Web/WebApp/Calls): the own picture, how loud the microphone is, which devices there are, and what the browser lets the page
// use. Nothing of it leaves this machine.

import { ifThere, listDevices } from './calls.js';
import { listenTo } from './capture.js';

const levelMilliseconds = 100;
// As CaptureKinds, CapturePermission and MediaPreview of Sources/Web/WebHost have them.
const bits = { microphone: 1, camera: 2 }, kinds = Object.keys(bits);
const permissions = { prompt: 0, granted: 1, denied: 2 };
const outcomes = { off: 0, on: 1, refused: 2, missing: 3 };
const constraints = {
  microphone: async device => ({ audio: await ifThere(device) }),
  camera: async device => ({ video: { width: { ideal: 1280 }, height: { ideal: 720 }, ...await ifThere(device) } }),
};

export const service = program => {
  const { objects } = program;
  return {
    async capture_permission(id, wanted) { program.dispatch(id, await permission(wanted)); },
    preview_open(id, view) {
      const tell = (...said) => { if (objects.has(id)) program.dispatch(id, ...said); };
      objects.set(id, openPreview(tell, () => program.node(view)));
    },
    preview_use(id, wanted, camera, microphone) { objects.get(id)?.use(wanted, { camera, microphone }); },
  };
};

// A browser that does not tell what it lets a page use names its devices only where the page may use them.
async function statusOf(kind) {
  try {
    return await navigator.permissions.query({ name: kind });
  } catch {
    const isNamed = (await listDevices()).some(device => device.kind === kind && device.label !== '');
    return { state: isNamed ? 'granted' : 'prompt' };
  }
}

// The least of what the kinds have.
async function permission(wanted) {
  const states = await Promise.all(kinds.filter(kind => wanted & bits[kind]).map(async kind => (await statusOf(kind)).state));
  return permissions[['denied', 'prompt'].find(state => states.includes(state)) ?? 'granted'];
}

// tell(code, x, y, text): 0 what the browser lets the page use, microphone and camera (`permissions`); 1 what became of both (`outcomes`); 2 how
// loud the microphone is, 0...1; 3 the devices as JSON.
function openPreview(tell, findView) {
  const tracks = {}, chosen = {}, statuses = [];
  let ear = null, timer, isOver = false, last = Promise.resolve();

  function close(kind) {
    tracks[kind]?.stop();
    delete tracks[kind];
    if (kind !== 'microphone') return;
    clearInterval(timer);
    ear?.stop();
    ear = null;
  }

  function keep(kind, track) {
    tracks[kind] = track;
    if (kind !== 'microphone') return;
    ear = listenTo(new MediaStream([track]));
    timer = setInterval(() => { if (ear.isHearing()) tell(2, ear.level()); }, levelMilliseconds);
  }

  // The browser asks once for all of them. If one cannot be had, the others may be; but a user who has just said no is not asked again.
  async function take(wanted) {
    try {
      const asked = Object.assign({}, ...await Promise.all(wanted.map(kind => constraints[kind](chosen[kind]))));
      const taken = await navigator.mediaDevices.getUserMedia(asked);
      for (const track of taken.getTracks()) if (isOver) track.stop(); else keep(track.kind === 'audio' ? 'microphone' : 'camera', track);
      return Object.fromEntries(wanted.map(kind => [kind, 'on']));
    } catch (error) {
      const isRefused = error?.name === 'NotAllowedError' || error?.name === 'SecurityError';
      const found = {};
      for (const kind of wanted) {
        const mayBeHad = wanted.length > 1 && (!isRefused || (await statusOf(kind)).state === 'granted');
        Object.assign(found, mayBeHad ? await take([kind]) : { [kind]: isRefused ? 'refused' : 'missing' });
      }
      return found;
    }
  }

  async function use(wanted, devices) {
    if (isOver) return;
    const found = {};
    for (const kind of kinds) {
      const isWanted = wanted & bits[kind], isOpen = tracks[kind]?.readyState === 'live' && chosen[kind] === devices[kind];
      if (!isWanted || !isOpen) close(kind);
      found[kind] = isWanted && isOpen ? 'on' : 'off';
      chosen[kind] = devices[kind];
    }
    const missing = kinds.filter(kind => wanted & bits[kind] && found[kind] === 'off');
    if (missing.length > 0) Object.assign(found, await take(missing));
    if (isOver) return;
    showPicture();
    tell(1, outcomes[found.microphone], outcomes[found.camera]);
    await tellDevices();
  }

  function showPicture() {
    const view = findView(), shown = view?.srcObject?.getTracks()[0];
    if (!view || shown === tracks.camera) return;
    view.srcObject = tracks.camera ? new MediaStream([tracks.camera]) : null;
    // The attribute alone does not mute an element that is made by a program.
    view.muted = true;
    view.play().catch(() => {});
  }

  async function tellDevices() {
    const used = Object.values(tracks).map(track => track.getSettings().deviceId);
    const found = (await listDevices()).filter(({ kind }) => kind !== 'speaker' || 'setSinkId' in HTMLMediaElement.prototype);
    if (!isOver) tell(3, 0, 0, JSON.stringify({ devices: found.map(device => ({ ...device, used: used.includes(device.id) })) }));
  }

  async function followPermissions() {
    statuses.push(...await Promise.all(kinds.map(statusOf)));
    const say = () => { if (!isOver) tell(0, ...statuses.map(({ state }) => permissions[state])); };
    for (const status of statuses) status.onchange = say;
    say();
  }

  followPermissions();
  navigator.mediaDevices.addEventListener('devicechange', tellDevices);
  return {
    // One after the other: a device that is chosen while another one opens comes after it.
    use(wanted, devices) { last = last.then(() => use(wanted, devices)); },
    stop() {
      isOver = true;
      kinds.forEach(close);
      for (const status of statuses) status.onchange = null;
      navigator.mediaDevices.removeEventListener('devicechange', tellDevices);
    },
  };
}
