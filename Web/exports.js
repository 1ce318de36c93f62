// A file that the program writes piece by piece, as large as a room's history is: into a file that the user picks where the browser offers
// that, else into Blobs, which are saved as a download at the end. Bytes can also be kept aside and read again.

export const service = program => {
  const { objects } = program;
  const answer = (id, work) => Promise.resolve().then(work).then(
    bytes => program.dispatch(id, 1, 0, 0, bytes ?? null), error => { console.info('export:', error); program.dispatch(id); });
  return {
    export_open(id, name, type) {
      openFile(fileName(name), type).then(file => {
        if (!objects.has(id)) { file?.stop(); return; }
        if (file === null) { program.dispatch(id); return; }
        objects.set(id, { file, kept: [], stop: () => file.stop() });
        program.dispatch(id, 1);
      });
      objects.set(id, { stop() {} });
    },
    export_keep(id, number, bytes) { answer(id, () => { objects.get(number).kept.push(new Blob([bytes])); }); },
    export_read(id, number, ranges) { answer(id, () => read(objects.get(number).kept, ranges)); },
    export_write(id, number, bytes) { answer(id, () => objects.get(number).file.write(bytes)); },
    export_finish(id, number) { answer(id, () => objects.get(number).file.finish()); },
  };
};

// Characters of a name.
const nameLimit = 80;

// A name that every file system takes, for what strangers call their rooms.
export function fileName(name) {
  const dot = name.lastIndexOf('.');
  const stem = [...name.slice(0, dot).replace(/[^\p{L}\p{M}\p{N}_ -]+/gu, ' ').replace(/\s+/g, ' ').trim()].slice(0, nameLimit).join('');
  return (stem.trim() || 'chat') + name.slice(dot);
}

// null if the user picks none.
async function openFile(name, type) {
  if (globalThis.showSaveFilePicker) {
    try {
      const handle = await showSaveFilePicker({ suggestedName: name, types: [{ accept: { [type]: [name.slice(name.lastIndexOf('.'))] } }] });
      const stream = await handle.createWritable();
      return { write: bytes => stream.write(bytes), finish: () => stream.close(), stop: () => stream.abort().catch(() => {}) };
    } catch (error) {
      if (error.name === 'AbortError') return null;
      // Not allowed here: a frame of another origin, or a press that is too long ago.
    }
  }
  const parts = [];
  return { write: bytes => { parts.push(new Blob([bytes])); }, finish: () => save(new Blob(parts, { type }), name), stop: () => { parts.length = 0; } };
}

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// `ranges`: first and end of each, in bytes, with spaces between them. Their bytes one behind the other.
async function read(kept, ranges) {
  const whole = new Blob(kept), numbers = ranges.split(' ').map(Number), parts = [];
  for (let i = 0; i < numbers.length; i += 2) parts.push(whole.slice(numbers[i], numbers[i + 1]));
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
