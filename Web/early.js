// What is there before the program, which is a hundred times as large. Who was signed in here sees the rooms as they were (kept-list.js). Who was
// not sees the form for that, can write in it and even send it; the program then draws its own in the same place and takes over what was written.

import { fetchEarly } from './fetched.js';
import { drawKeptList, keepList } from './kept-list.js';
import { isOurPage, textsLoaded, word } from './language.js';
import { applyLook } from './look.js';
import { setting } from './settings.js';

const root = document.getElementById('app');
const wasm = new URL(root.dataset.program, import.meta.url);
// In Firefox an account that is made while the forms change places does not come about, for a reason that is not found yet: it waits for the program.
const isFirefox = CSS.supports('-moz-appearance', 'none');
const isComingBack = new URLSearchParams(location.search).has('loginToken');

function element(tag, classes, parent, text = '') {
  const node = document.createElement(tag);
  node.className = classes;
  node.textContent = text;
  parent?.append(node);
  return node;
}

function logo(parent) {
  const image = element('img', 'ma-logo', parent);
  Object.assign(image, { src: 'icon.svg', alt: '' });
}

function field(parent, label, type, autocomplete, hint) {
  const node = element('label', 'ma-field', parent);
  element('span', 'ma-field-label', node, word(label));
  const input = element('input', 'ma-input', element('span', 'ma-field-box', node));
  Object.assign(input, { type, autocomplete, autocapitalize: 'none', spellcheck: false });
  input.setAttribute('aria-label', word(label));
  element('span', 'ma-field-hint', node, hint ? word(hint) : '');
  return { node, input };
}

// As SignInScreen.swift draws it.
function draw() {
  const screen = element('main', 'ma-signin', null);
  screen.id = 'early';
  const card = element('div', 'ma-card', screen);
  logo(card);
  element('h1', 'ma-title', card, word('welcome'));
  element('p', 'ma-note', card, word('welcomeNote'));
  const tabs = element('div', 'ma-tabs', card);
  tabs.setAttribute('role', 'tablist');
  const form = element('form', 'ma-form', card);
  form.noValidate = true;
  const fields = [
    [field(form, 'userName', 'text', 'username', 'userNameHint'), field(form, 'password', 'password', 'current-password')],
    [field(form, 'userName', 'text', 'username', 'newUserNameHint'), field(form, 'password', 'password', 'new-password', 'newPasswordHint')],
  ];
  element('p', 'ma-note', form, word('forgotAsk'));
  const submit = element('button', 'ma-button ma-primary', form);
  submit.type = 'submit';
  element('span', 'mg-spinner', submit).ariaHidden = 'true';
  const words = element('span', 'ma-button-text', submit);
  // As high as what the program draws: nothing moves when it comes.
  element('span', 'ma-server-name', element('p', 'ma-server', card), word('serverIs').replace('{0}', location.host));
  const language = element('label', 'ma-field', card);
  element('span', 'ma-field-label', language, word('language'));
  element('select', 'ma-input ma-choice', element('span', 'ma-field-box', language)).disabled = true;
  const written = { tab: 0, isSent: false };
  const buttons = ['signIn', 'createAccount'].map((name, index) => {
    const button = element('button', 'ma-tab', tabs, word(name));
    button.type = 'button';
    button.setAttribute('role', 'tab');
    button.addEventListener('click', () => choose(index));
    return button;
  });

  function choose(tab) {
    written.tab = tab;
    buttons.forEach((button, index) => {
      button.setAttribute('aria-selected', index === tab);
      button.classList.toggle('ma-selected', index === tab);
    });
    fields.forEach((pair, index) => pair.forEach(({ node }) => { node.hidden = index !== tab; }));
    words.textContent = word(tab === 0 ? 'signIn' : 'createAccount');
  }

  form.addEventListener('submit', e => {
    e.preventDefault();
    const empty = fields[written.tab].find(({ input }) => input.value === '');
    if (empty) return empty.input.focus();
    written.isSent = true;
    submit.setAttribute('aria-busy', 'true');
    words.textContent = word(written.tab === 0 ? 'signingIn' : 'creatingAccount');
  });
  // The program's form takes the focus when it comes.
  screen.addEventListener('focusin', ({ target }) => { written.focused = target; });
  choose(0);
  root.after(screen);
  fields[0][0].input.focus();
  return () => ({ ...written, inputs: fields[written.tab].map(({ input }) => input) });
}

// The same fields of the program's form.
const fieldsOf = (screen, tab) => ['username', tab === 0 ? 'current-password' : 'new-password']
  .map(kind => [...screen.querySelectorAll(`input[autocomplete=${kind}]`)].find(input => !input.closest('[hidden]')));

// Until the program has the same tab, which it may not hear at once, this form stays above its own.
async function handOver(screen, written) {
  const tabOf = () => screen.querySelectorAll('[role=tab]')[written().tab];
  for (let tries = 0; tries < 40 && tabOf()?.getAttribute('aria-selected') !== 'true'; tries++) {
    tabOf()?.click();
    if (tabOf()?.getAttribute('aria-selected') !== 'true') await new Promise(done => setTimeout(done, 50));
  }
  const { tab, isSent, inputs, focused } = written();
  fieldsOf(screen, tab).forEach((field, index) => {
    const { value, selectionStart, selectionEnd } = inputs[index];
    if (!field) return;
    if (value !== '') {
      field.value = value;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    if (focused !== inputs[index]) return;
    field.focus();
    field.setSelectionRange(selectionStart, selectionEnd);
  });
  document.getElementById('early').remove();
  if (isSent) screen.querySelector('form').requestSubmit();
}

// What the program draws shows that it is there: its first screen, or of the rooms the first.
function whenDrawn(signs, then) {
  const observer = new MutationObserver(look);
  observer.observe(root, { childList: true, subtree: true });
  look();

  function look() {
    const shown = root.querySelector(signs);
    if (!shown) return;
    observer.disconnect();
    then(shown);
  }
}

function showForm() {
  const written = draw();
  whenDrawn('.ma-signin, .ma-app, .ma-elsewhere, .mg-notice', shown => {
    if (shown.matches('.ma-signin')) handOver(shown, written);
    else document.getElementById('early').remove();
  });
}

function showList() {
  // On a phone the room has the whole page.
  if (location.hash !== '' && matchMedia('(max-width: 719.98px)').matches) return;
  const screen = drawKeptList();
  if (!screen) return;
  applyLook();
  root.after(screen);
  whenDrawn('.ma-list .ma-entry, .ma-list .ma-empty:not([hidden], .ma-coming), .ma-administration, .ma-signin, .ma-elsewhere, .mg-notice', () => {
    const [from, to] = [screen, root].map(page => page.querySelector('.ma-rooms'));
    if (to) to.scrollTop = from.scrollTop;
    screen.remove();
    screen.goOn(root);
  });
}

async function start() {
  const isPlain = isOurPage && !root.frame && !isComingBack && !location.hash.startsWith('#/') && self === top;
  const isSignedIn = setting('signed-in') !== '';
  if (isPlain && isSignedIn) showList();
  const isFirst = isPlain && !isSignedIn && !isFirefox;
  // The program comes behind what is needed to see something.
  if (isFirst) await textsLoaded.catch(() => {});
  fetchEarly(wasm);
  // The program may have been quicker.
  if (isFirst && word('welcome') !== undefined && root.childElementCount === 0) showForm();
}

keepList(root);
start();
