// The line to the Worker of end-to-end encryption (encryption-worker.js) for the program: bytes each way, and the end of it.

export const service = program => {
  const { objects } = program;
  return {
    // `id` is told each message under code 1, and under code 0 that the Worker is gone.
    encryption_open(id) {
      const worker = new Worker(new URL('encryption-worker.js', import.meta.url), { type: 'module' });
      let isBuilding = false, endBuilding = null, sent = 0;
      // The first message says whose keys they are; nobody waits before there is another.
      const tell = () => { if (isBuilding && sent > 1) endBuilding ??= program.building(); };
      worker.onmessage = ({ data }) => {
        if (data === 'building') {
          isBuilding = true;
          tell();
        } else if (data === 'built') {
          isBuilding = false;
          endBuilding?.();
        } else {
          program.dispatch(id, 1, 0, 0, data);
        }
      };
      worker.onerror = event => {
        event.preventDefault();
        console.error('The encryption stopped:', event.message);
        worker.terminate();
        program.dispatch(id, 0);
      };
      const send = message => {
        worker.postMessage(message, [message.buffer]);
        sent++;
        tell();
      };
      objects.set(id, { send, stop: () => worker.terminate() });
    },
    encryption_send(id, message) { objects.get(id)?.send(message); },
  };
};
