// The page's entry: makes the program that draws into #app, gives it its services, and sees to what the whole page needs.
//
// The program is the file named by data-program of the element (default app.wasm), beside this one. It needs only script-src 'self'
// 'wasm-unsafe-eval'. In <martlet-messenger> the element has a `frame` (messenger-frame.js).

import { channelService } from './channels.js';
import { dateService } from './dates.js';
import { domService } from './dom-batch.js';
import './keys.js';
import { isOurPage, languageService, textsLoaded, word } from './language.js';
import { applyLook } from './look.js';
import { networkService } from './network.js';
import { isInStrangersPage, notice, pageService } from './page.js';
import { placePopovers } from './popover.js';
import { Program, keepTrying, later } from './program.js';
import { setting, settingService } from './settings.js';
import { storeService } from './store.js';

const root = document.getElementById('app') ?? document.body;
const errands = later('errands.js', () => import('./errands.js'));

// ---- What is there if it was chosen

let figures = null, rich = null;

function followFigures() {
  const isWanted = setting('figures') !== '';
  if (isWanted) figures ??= import('./figures.js');
  figures?.then(({ showFigures }) => showFigures(isWanted));
}

// What is written is shown as it will look. `field` is one for messages that has just been made or has grown.
function followRich(field) {
  const isWanted = isOurPage && setting('rich') !== '';
  if (isWanted) rich ??= import('./rich-editor.js');
  rich?.then(({ showRich }) => showRich(isWanted, field));
}

const lookService = () => ({
  look_apply() {
    if (isOurPage) {
      applyLook();
      followFigures();
      followRich();
    }
    errands(({ renewPage }) => renewPage());
  },
});

// ---- The program

placePopovers(root);

const services = [
  domService({ onField: followRich }), settingService, languageService, dateService, pageService, channelService, networkService,
  storeService({ onWrite: (store, key, isThere) => errands(({ noteRecord }) => noteRecord(store, key, isThere)) }), lookService,
];

const troubles = {
  crashed: ['crashed', 'Something went wrong in this page.'],
  unreachable: ['unreachable', 'The page could not be loaded. Check your connection.'],
  outdated: ['outdated', 'There is a new version of this page.'],
  building: ['building', 'This part is still being built on the server. It opens by itself when it is ready.'],
};

function onTrouble(kind) {
  const [name, plain] = troubles[kind];
  if (kind !== 'building') return notice(word(name) ?? plain, word('reload') ?? 'Reload');
  const close = notice(word(name) ?? plain, word('close') ?? 'Close', () => close());
  return close;
}

// What the first screen does not need is fetched behind it, so that it is there when the network is not.
async function fetchRest(program) {
  const scripts = [() => import('./gestures.js'), () => import('./viewer.js'), () => import('./marks.js')];
  await Promise.all([program.loadParts(), ...scripts.map(keepTrying)]);
  program.fetchServices();
  // The service worker asks for all files of the page again.
  if (isOurPage && !program.frame) keepTrying(() => import('./shell.js'));
}

async function start() {
  if (isOurPage) {
    applyLook();
    followRich();
  }
  if (isOurPage && !root.frame && isInStrangersPage()) {
    await textsLoaded.catch(() => {});
    notice(word('framed') ?? 'This page does not open inside another.', word('openAlone') ?? 'Open', () => open(location.href, '_blank', 'noopener'));
    return;
  }
  if (typeof WebAssembly !== 'object') {
    notice('This page needs a newer browser: one with WebAssembly.');
    return;
  }
  const program = new Program(new URL(root.dataset.program ?? 'app.wasm', import.meta.url), root, services, onTrouble);
  if (!await program.run(textsLoaded)) return;
  if (isOurPage) followFigures();
  fetchRest(program);
}

start();
