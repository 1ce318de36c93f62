import { MartletCall } from './martlet-call.js';

const { url, session, token, name = 'Somebody' } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const find = id => document.getElementById(id);
const say = text => { find('state').value = text; };
let call, publisher = null, subscriber = null;

try {
  call = globalThis.call = new MartletCall({ url, session, token });
} catch (error) {
  say(error.message);
  throw error;
}

// Listen before connecting: streams that are there already come as events, too.
call.addEventListener('streamCreated', ({ detail: { stream } }) => { if (subscriber === null) subscribe(stream); });
call.addEventListener('streamDestroyed', ({ detail: { stream } }) => {
  if (stream !== subscriber?.stream) return;
  subscriber = null;
  find('mute-other').disabled = find('chat').hidden = true;
  say(`${stream.name} is gone.`);
  if (call.streams.length > 0) subscribe(call.streams[0]);
});
call.addEventListener('signal', ({ detail: { kind, data, from } }) => { if (kind === 'text-chat') show(from, data); });
call.addEventListener('muted', () => {
  showButtons();
  say('A moderator has muted you.');
});
call.addEventListener('recordingStarted', showRecording);
call.addEventListener('recordingStopped', showRecording);
call.addEventListener('reconnecting', () => say('The line is cut. Trying again…'));
call.addEventListener('reconnected', () => say('Connected again.'));
call.addEventListener('closed', ({ detail: { message } }) => {
  for (const button of document.querySelectorAll('button')) button.disabled = true;
  showRecording();
  say(message);
});

async function subscribe(stream) {
  subscriber = { stream };
  try {
    subscriber = await call.subscribe(stream, find('other'), { width: 640, height: 480 });
    find('mute-other').disabled = false;
    await subscriber.seen;
    find('chat').hidden = false;
    say(`You see ${stream.name}.`);
  } catch (error) {
    say(error.message);
  }
}

// Texts of others are texts, never markup.
function show(from, text) {
  const line = document.createElement('li');
  line.textContent = `${from?.data || 'Somebody'}: ${text}`;
  find('messages').append(line);
}

function showButtons() {
  find('mute-own').textContent = publisher.audio ? 'Mute' : 'Unmute';
  find('camera-off').textContent = publisher.video ? 'Camera off' : 'Camera on';
  find('mute-other').textContent = subscriber?.audio === false ? 'Hear the other' : 'Mute the other';
}

// Nobody is recorded without seeing it: also those who come while it goes on are told.
function showRecording() {
  const isOn = call.recording !== null && call.state !== 'closed';
  find('recorded').value = isOn ? 'This call is recorded.' : '';
  find('record').textContent = isOn ? 'Stop recording' : 'Record';
}

function onClick(id, run) {
  find(id).addEventListener('click', async () => {
    try {
      await run();
      showButtons();
    } catch (error) {
      say(error.message);
    }
  });
}

onClick('mute-own', () => publisher.setAudio(!publisher.audio));
onClick('camera-off', () => publisher.setVideo(!publisher.video));
onClick('swap', () => publisher.switchCamera());
onClick('mute-other', () => subscriber.setAudio(!subscriber.audio));
onClick('record', () => call.recording === null ? call.startRecording() : call.stopRecording());
onClick('leave', () => call.disconnect());
find('chat').addEventListener('submit', async event => {
  event.preventDefault();
  const text = find('text').value;
  if (text === '') return;
  try {
    await call.signal({ kind: 'text-chat', data: text });
    find('text').value = '';
  } catch (error) {
    say(error.message);
  }
});

try {
  await call.connect();
  say('Connected.');
  find('leave').disabled = false;
  if (call.connection.role !== 'subscriber') {
    publisher = await call.publish(find('own'), { name });
    for (const id of ['mute-own', 'camera-off', 'swap']) find(id).disabled = false;
    find('record').hidden = call.connection.role !== 'moderator';
    globalThis.publisher = publisher;
  }
} catch (error) {
  say(error.message);
}
