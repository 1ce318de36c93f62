// Files for the program: those that a person picks, pastes, drops or records get a number, under which it keeps and sends them.

import { describe, dropFile, dropFiles, findFile, keepFile } from './files.js';
import { asShown } from './media.js';
import { readHead, upload } from './network.js';
import { giveUp, uploadFile } from './uploads.js';

let lastFile = 1 << 30;

export const service = program => {
  const { objects } = program;
  const file = id => objects.get(id)?.file;
  return {
    pick_files(id, accept, isMultiple) {
      const input = document.createElement('input');
      input.type = 'file';
      input.accept = accept;
      input.multiple = isMultiple !== 0;
      input.addEventListener('change', () => tellFiles(program, id, 0, [...input.files]));
      input.addEventListener('cancel', () => program.dispatch(id));
      input.click();
    },
    file_keep(id, name) { if (file(id)) keepFile(file(id), name); },
    file_drop(name) { giveUp(name, dropFile(name)); },
    file_drop_all() { dropFiles(); },
    async file_find(id, name) {
      const found = await findFile(name);
      tellFiles(program, id, 0, found ? [found] : []);
    },
    // Its bytes under code 1; code 0 where it is longer, or cannot be read.
    async file_read(id, number, limit) {
      const found = file(number);
      if (!found || found.size > limit) { program.dispatch(id); return; }
      try { program.dispatch(id, 1, 0, 0, new Uint8Array(await found.arrayBuffer())); } catch { program.dispatch(id); }
    },
    // Keys first, under code -2; code -3 where it cannot be encrypted.
    async upload_encrypted(id, number, head) {
      let isStopped = false, sending = null;
      objects.set(id, { stop: () => { isStopped = true; sending?.stop(); } });
      try {
        const { encryptFile } = await import('./sealed-files.js');
        const { blob, keys } = await encryptFile(file(number));
        if (isStopped) return;
        program.dispatch(id, -2, 0, 0, keys.join('\n'));
        sending = upload(readHead(head), blob, part => program.dispatch(id, -1, part), (status, headCount, bytes) => {
          if (objects.delete(id)) program.dispatch(id, status, headCount, 0, bytes);
        });
      } catch (error) {
        console.info(String(error));
        if (objects.delete(id)) program.dispatch(id, -3);
      }
    },
    upload(id, number, head) {
      objects.set(id, uploadFile(readHead(head), file(number), part => program.dispatch(id, -1, part), (status, headCount, bytes) => {
        if (objects.delete(id)) program.dispatch(id, status, headCount, 0, bytes);
      }));
    },
  };
};

// Numbers them and tells of them, as Host.pickedFiles reads it.
export async function tellFiles(program, id, code, list, x = 0) {
  const lines = await describe(list, file => {
    program.objects.set(++lastFile, { file, url: () => URL.createObjectURL(asShown(file)) });
    return lastFile;
  });
  program.dispatch(id, code, x, 0, lines);
}
