// What the page takes in from the device: where it is, what is said to it, and what it sees.

import { tellFiles } from './file-service.js';

export const service = program => {
  const { objects } = program;
  const tell = id => (code, x, y, file) => {
    if (file) tellFiles(program, id, code, [file], x);
    else if (objects.has(id)) program.dispatch(id, code, x, y);
  };
  return {
    locate(id) { locate((code, place) => program.dispatch(id, code, 0, 0, place)); },
    record(id) { objects.set(id, record(tell(id))); },
    watch(id, view) { objects.set(id, watch(tell(id), () => program.node(view))); },
    record_finish(id) { objects.get(id)?.finish(); },
    scan(id, view) { objects.set(id, scan((code, bytes) => program.dispatch(id, code, 0, 0, bytes ?? ''), () => program.node(view))); },
  };
};

// tell(code, text): 0 and a geo URI (RFC 5870), 1 refused, 2 not known.
function locate(tell) {
  if (!navigator.geolocation) { setTimeout(() => tell(2, '')); return; }
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => tell(0, `geo:${coords.latitude.toFixed(5)},${coords.longitude.toFixed(5)};u=${Math.ceil(coords.accuracy)}`),
    error => tell(error.code === 1 ? 1 : 2, ''), { timeout: 20_000, maximumAge: 60_000 });
}

// How loud a stream is now: the highest of its last samples, 0...1.
export function listenTo(stream) {
  const context = new AudioContext(), analyser = context.createAnalyser(), samples = new Float32Array(analyser.fftSize);
  context.createMediaStreamSource(stream).connect(analyser);
  return {
    // Firefox hears nothing on a machine without a loudspeaker.
    isHearing: () => context.state === 'running',
    level() {
      analyser.getFloatTimeDomainData(samples);
      return Math.min(1, samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0));
    },
    stop() { context.close(); },
  };
}

const kinds = [['audio/ogg;codecs=opus', 'ogg'], ['audio/webm;codecs=opus', 'webm'], ['audio/mp4', 'm4a']];
const levelMilliseconds = 100;
// Of one recording; it ends by itself.
const longestMilliseconds = 3_600_000;

// tell(code, x, y, file): 0 how loud it is (0...1) and for how long already, 1 its length and the file, 2 refused, 3 there is no sound.
function record(tell) {
  let stream, ear, timer, recorder, isOver = false;
  const stop = () => {
    isOver = true;
    clearInterval(timer);
    for (const track of stream?.getTracks() ?? []) track.stop();
    ear?.stop();
    ear = undefined;
  };
  const begin = () => {
    const [type, ending] = kinds.find(([type]) => MediaRecorder.isTypeSupported(type)) ?? ['', 'webm'];
    const parts = [], start = performance.now();
    recorder = new MediaRecorder(stream, type ? { mimeType: type } : {});
    recorder.addEventListener('dataavailable', e => parts.push(e.data));
    recorder.addEventListener('stop', () => {
      if (isOver) return;
      stop();
      tell(1, performance.now() - start, 0, new File(parts, 'voice.' + ending, { type: type.split(';')[0] }));
    });
    ear = listenTo(stream);
    timer = setInterval(() => {
      tell(0, ear.level(), performance.now() - start);
      if (performance.now() - start > longestMilliseconds) recorder.stop();
    }, levelMilliseconds);
    recorder.start();
  };
  (async () => {
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (isOver) stop(); else begin();
    } catch (error) {
      if (isOver) return;
      stop();
      tell(error?.name === 'NotAllowedError' ? 2 : 3, 0, 0);
    }
  })();
  return { stop, finish: () => { if (recorder?.state === 'recording') recorder.stop(); } };
}

// Pixels of the longer side that the camera is asked for.
const picturePixels = 1920;

// Shows in a video what the camera sees, the one that looks away from the person where there are several. tell(code, x, y, file): 0 there is
// something to see, 1 the picture that was taken, 2 refused, 3 no camera. finish() takes it, and goes on after that.
function watch(tell, findView) {
  let stream, view, isOver = false;
  const stop = () => {
    isOver = true;
    for (const track of stream?.getTracks() ?? []) track.stop();
  };
  const failed = error => { if (!isOver) { stop(); tell(error?.name === 'NotAllowedError' ? 2 : 3, 0, 0); } };
  const begin = async () => {
    view = findView();
    view.srcObject = stream;
    view.muted = true;
    await view.play();
    if (!isOver) tell(0, 1, 0);
  };
  const take = () => {
    view.pause();
    const canvas = Object.assign(document.createElement('canvas'), { width: view.videoWidth, height: view.videoHeight });
    canvas.getContext('2d').drawImage(view, 0, 0);
    canvas.toBlob(blob => {
      if (blob === null) failed();
      else if (!isOver) tell(1, 0, 0, new File([blob], 'picture.jpg', { type: blob.type }));
    }, 'image/jpeg', 0.9);
  };
  (async () => {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', width: { ideal: picturePixels } } });
    if (isOver) stop(); else await begin();
  })().catch(failed);
  return { stop, finish: () => { if (view.paused) begin().catch(failed); else take(); } };
}

const scanMilliseconds = 200;

// A detector gives text, and a code of verification has bytes. It can be used where each character stands for a byte; null elsewhere.
const bytesOf = text => [...text].some(character => character > '\xff') ? null : Uint8Array.from(text, character => character.charCodeAt(0));

// Shows in a video what the camera sees, and looks for a code of verification there. tell(code, bytes): 0 what it has, 1 it cannot be read here,
// 2 refused, 3 no camera.
function scan(tell, findView) {
  let stream, timer, isOver = false;
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    for (const track of stream?.getTracks() ?? []) track.stop();
  };
  const end = (code, bytes) => {
    if (isOver) return;
    stop();
    tell(code, bytes);
  };
  const look = async (detector, view) => {
    const found = (await detector.detect(view)).find(({ rawValue }) => rawValue.startsWith('MATRIX'));
    if (found === undefined) {
      if (!isOver) timer = setTimeout(() => look(detector, view).catch(failed), scanMilliseconds);
      return;
    }
    const bytes = bytesOf(found.rawValue);
    if (bytes === null) end(1); else end(0, bytes);
  };
  const failed = error => end(error?.name === 'NotAllowedError' ? 2 : 3);
  (async () => {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
    if (isOver) { stop(); return; }
    const view = findView();
    view.srcObject = stream;
    view.muted = true;
    await view.play();
    await look(new BarcodeDetector({ formats: ['qr_code'] }), view);
  })().catch(failed);
  return { stop };
}
