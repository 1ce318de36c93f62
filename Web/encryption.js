// The line to the Worker of end-to-end encryption (encryption-worker.js) for the program: bytes each way, and the end of it.

import { word } from './language.js';
import { notice } from './page.js';

let endNotice = null;

function tellBuilding(isOver) {
  endNotice?.();
  endNotice = isOver ? null : notice(word('building'), word('close'), () => tellBuilding(true));
}

export const service = program => {
  const { objects } = program;
  return {
    // `id` is told each message under code 1, and under code 0 that the Worker is gone.
    encryption_open(id) {
      const worker = new Worker(new URL('encryption-worker.js', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => {
        if (typeof data === 'string') tellBuilding(data === 'built'); else program.dispatch(id, 1, 0, 0, data);
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
  };
};
