// The line to the Worker of end-to-end encryption (encryption-worker.js) for the program: bytes each way, and the end of it.

import { setting, settings } from './settings.js';

const ASKED = 'storage-asked', ASKED_AGAIN_MILLISECONDS = 30 * 24 * 3_600_000;

// null where the browser does not say.
const keeps = async () => await navigator.storage?.persisted?.() ?? null;

// A browser that is short of space drops what pages store, and with the keys the device would be lost. Some browsers ask the person whether a page may
// store for good: they are not asked again for a month, whatever they have answered.
async function keepStorage() {
  const isKept = await keeps();
  if (isKept !== false || Date.now() - Number(setting(ASKED)) < ASKED_AGAIN_MILLISECONDS) return isKept;
  settings().setItem(ASKED, String(Date.now()));
  return navigator.storage.persist();
}

export const service = program => {
  const { objects } = program;
  return {
    // `id` is told each message under code 1, under code 0 that the Worker is gone, and under codes 2 and 3 that the server still builds its
    // program, and does not any more.
    encryption_open(id) {
      const worker = new Worker(new URL('encryption-worker.js', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => {
        if (data === 'building') program.dispatch(id, 2);
        else if (data === 'built') program.dispatch(id, 3);
        else program.dispatch(id, 1, 0, 0, data);
      };
      worker.onerror = event => {
        event.preventDefault();
        console.error('The encryption stopped:', event.message);
        worker.terminate();
        program.dispatch(id, 0);
      };
      objects.set(id, { worker, stop: () => worker.terminate() });
    },
    encryption_send(id, message) { objects.get(id)?.worker.postMessage(message, [message.buffer]); },
    async storage_keep(id, asks) {
      const isKept = await (asks ? keepStorage() : keeps()).catch(() => null);
      program.dispatch(id, isKept === null ? 2 : isKept ? 1 : 0);
    },
  };
};
