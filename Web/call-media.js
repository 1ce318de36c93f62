// Cameras, peer connections and sockets of calls (calls.js) for the program.

import { openMedia, openSocket } from './calls.js';
import { sealedMedia } from './sealed-media.js';

export const service = program => {
  const { objects } = program;
  return {
    media_open(id) {
      const seal = sealedMedia(), media = openMedia(event => program.dispatch(id, 0, 0, 0, JSON.stringify(event)), seal.connection);
      const act = effect => seal.act(effect) || media.act(effect), stop = () => { media.stop(); seal.stop(); };
      objects.set(id, { ...media, act, stop });
    },
    media_do(id, effect) { objects.get(id)?.act(JSON.parse(effect)); },
    media_show(id, node, stream) { if (program.node(node)) objects.get(id)?.show(program.node(node), stream); },
    socket_open(id, url) {
      objects.set(id, openSocket(url, (code, said = '') => { if (objects.has(id)) program.dispatch(id, code, 0, 0, said); }));
    },
    socket_send(id, text) { objects.get(id)?.say(text); },
  };
};
