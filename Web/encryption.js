// The line to the Worker of end-to-end encryption (encryption-worker.js) for the program: bytes each way, and the end of it.

import { setting, settings } from './settings.js';

const ASKED = 'storage-asked', ASKED_AGAIN_MILLISECONDS = 30 * 24 * 3_600_000;
// The pauses double; eight minutes in all.
const LOADING_TRIES = 20, FIRST_PAUSE_MILLISECONDS = 250, LONGEST_PAUSE_MILLISECONDS = 30_000;

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

// The Worker's script, and what it imports, may be asked for while there is no network. Then it is asked for again, and hears what was said meanwhile.
class PatientWorker {
  #tell; #worker; #timer; #tries = 0; #isThere = false; #said = [];

  constructor(tell) {
    this.#tell = tell;
    this.#begin();
  }

  #begin() {
    this.#worker = new Worker(new URL('encryption-worker.js', import.meta.url), { type: 'module' });
    this.#worker.onmessage = ({ data }) => {
      this.#isThere = true;
      this.#said = [];
      if (data === 'building') this.#tell(2);
      else if (data === 'built') this.#tell(3);
      else this.#tell(1, data);
    };
    this.#worker.onerror = event => {
      event.preventDefault();
      this.#worker.terminate();
      // Of a script that could not be loaded there is no message.
      if (!this.#isThere && event.message === undefined && this.#tries < LOADING_TRIES) {
        this.#timer = setTimeout(() => this.#begin(), Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** this.#tries++, LONGEST_PAUSE_MILLISECONDS));
        return;
      }
      console.error('The encryption stopped:', event.message);
      this.#tell(0);
    };
    for (const message of this.#said) this.#worker.postMessage(message);
  }

  send(message) {
    if (this.#isThere) return this.#worker.postMessage(message, [message.buffer]);
    this.#said.push(message);
    this.#worker.postMessage(message);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#worker.terminate();
  }
}

export const service = program => {
  const { objects } = program;
  return {
    // `id` is told each message under code 1, under code 0 that the Worker is gone, and under codes 2 and 3 that the server still builds its
    // program, and does not any more.
    encryption_open(id) { objects.set(id, new PatientWorker((code, data) => program.dispatch(id, code, 0, 0, data))); },
    encryption_send(id, message) { objects.get(id)?.send(message); },
    async storage_keep(id, asks) {
      const isKept = await (asks ? keepStorage() : keeps()).catch(() => null);
      program.dispatch(id, isKept === null ? 2 : isKept ? 1 : 0);
    },
  };
};
