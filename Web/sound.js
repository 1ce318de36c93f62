// Sounds that the program plays, such as voice messages.

import { mediaURL } from './media.js';

const events = ['timeupdate', 'play', 'pause', 'ended', 'loadedmetadata', 'error'];
const finite = number => Number.isFinite(number) ? number : 0;

export const service = program => {
  const { objects } = program;
  const audio = id => objects.get(id)?.audio;
  return {
    // Tells 0 or 1, whether it plays, with its place and length in milliseconds; 2 when it cannot be played; 3 with the part that was fetched.
    async play(id, source) {
      const audio = new Audio();
      let url = '';
      const stop = () => { audio.pause(); if (url.startsWith('blob:')) URL.revokeObjectURL(url); };
      objects.set(id, { audio, stop });
      const tell = () => { if (objects.has(id)) program.dispatch(id, audio.error ? 2 : audio.paused ? 0 : 1, audio.currentTime * 1000, finite(audio.duration) * 1000); };
      for (const type of events) audio.addEventListener(type, tell);
      try {
        url = await mediaURL(source, part => { if (objects.has(id)) program.dispatch(id, 3, part); });
        if (!objects.has(id)) { stop(); return; }
        audio.src = url;
        await audio.play();
      } catch {
        if (objects.has(id)) program.dispatch(id, 2);
      }
    },
    player_play(id) { audio(id)?.play().catch(() => {}); },
    player_pause(id) { audio(id)?.pause(); },
    player_seek(id, fraction) { if (audio(id)) audio(id).currentTime = fraction * finite(audio(id).duration); },
    player_set_rate(id, rate) { if (audio(id)) audio(id).playbackRate = rate; },
  };
};
