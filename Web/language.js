// What the page knows of its reader: the language, how time and sizes are said in it, and the look that was chosen.

const root = document.getElementById('app') ?? document.body;
const spoken = root.dataset.languages;
// Not a demo or another's page, which has no texts and no settings.
export const isOurPage = spoken !== undefined;

// Browsers throw where they let the page keep nothing.
export const settings = () => root.frame?.settings ?? localStorage;

export function setting(name) {
  try { return settings().getItem(name) ?? ''; } catch { return ''; }
}

// ---- Language

// The page says in which languages there are texts (`texts.LANGUAGE.txt`). Spoken is the one that was chosen here, else the
// first of the reader's that is among them, else the first of all. A page without texts, such as a demo, is in the language it
// is marked with.
const languageOf = tag => tag.split('-')[0].toLowerCase();
const languages = (spoken ?? document.documentElement.lang).split(' ').filter(tag => tag !== '').map(languageOf);
const localeIn = list => navigator.languages.find(tag => list.includes(languageOf(tag)));
const browserLocale = localeIn(languages) ?? languages[0] ?? navigator.language;
const chosen = isOurPage ? languages.filter(language => language === setting('language')) : [];
export let locale = chosen.length > 0 ? localeIn(chosen) ?? chosen[0] : browserLocale;
export let texts = '';

function speak(language) {
  document.documentElement.lang = language;
  document.documentElement.dir = ['ar', 'fa', 'he', 'ur'].includes(language) ? 'rtl' : 'ltr';
}

async function fetchTexts(language) {
  const answer = await fetch(new URL(`texts.${language}.txt`, import.meta.url));
  if (!answer.ok) throw new Error('status ' + answer.status);
  texts = await answer.text();
  speak(language);
  followFigures();
}

// Where the words of a language cannot be had, those of the first are there.
export async function loadTexts() {
  if (!isOurPage || texts !== '') return;
  try {
    await fetchTexts(languageOf(locale));
  } catch (error) {
    if (languageOf(locale) === languages[0]) throw error;
    locale = languages[0];
    await fetchTexts(locale);
  }
}

// What the host itself says: a text by its name.
export const word = name => texts.split('\n').find(line => line.startsWith(name + ' = '))?.slice(name.length + 3);

// A line for each language: its tag and its own name; first what the browser would choose.
export function languageList() {
  const name = tag => new Intl.DisplayNames(tag, { type: 'language' }).of(tag);
  return ['', ...languages].map(tag => tag + '\t' + name(tag || languageOf(browserLocale))).join('\n');
}

let plurals, pluralForms;

export function pluralForm(count) {
  plurals ??= new Intl.PluralRules(locale);
  pluralForms ??= ['zero', 'one', 'two', 'few', 'many', 'other'].filter(form => plurals.resolvedOptions().pluralCategories.includes(form));
  return pluralForms.indexOf(plurals.select(count));
}

// ---- Time and sizes

const formats = new Map();

function format(name, options) {
  if (!formats.has(name)) formats.set(name, new Intl.DateTimeFormat(locale, options));
  return formats.get(name);
}

// Any number is a moment: what lies beyond the calendar counts as its end.
export const moment = ms => new Date(Math.max(-8.64e15, Math.min(8.64e15, ms)) || 0);
const clock = date => format('clock', { hour: 'numeric', minute: '2-digit' }).format(date);
const dayNumber = date => Math.floor((date.getTime() - date.getTimezoneOffset() * 60_000) / 86_400_000);

function dayLabel(date) {
  const now = new Date(), age = dayNumber(now) - dayNumber(date);
  if (age === 0 || age === 1) {
    const word = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-age, 'day');
    return word.charAt(0).toLocaleUpperCase(locale) + word.slice(1);
  }
  const sameYear = now.getFullYear() === date.getFullYear();
  return sameYear ? format('day', { weekday: 'long', day: 'numeric', month: 'long' }).format(date)
    : format('year', { day: 'numeric', month: 'long', year: 'numeric' }).format(date);
}

function shortLabel(date) {
  const age = dayNumber(new Date()) - dayNumber(date);
  if (age === 0) return clock(date);
  if (age < 0) {
    const day = age > -7 ? { weekday: 'short' } : { day: 'numeric', month: 'numeric' };
    return format('soon' + (age > -7), { ...day, hour: 'numeric', minute: '2-digit' }).format(date);
  }
  if (age > 0 && age < 7) return format('weekday', { weekday: 'short' }).format(date);
  return format('date', { day: 'numeric', month: 'numeric', year: '2-digit' }).format(date);
}

function byteLabel(count) {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
  let unit = 0;
  while (count >= 1000 && unit < 3) { count /= 1000; unit++; }
  return new Intl.NumberFormat(locale, { style: 'unit', unit: units[unit], unitDisplay: unit === 0 ? 'long' : 'short', maximumFractionDigits: count < 10 && unit > 0 ? 1 : 0 }).format(count);
}

export const labels = [
  ms => clock(moment(ms)), ms => dayLabel(moment(ms)),
  ms => format('full', { dateStyle: 'full', timeStyle: 'short' }).format(moment(ms)), ms => shortLabel(moment(ms)), byteLabel,
  ms => format('month', { month: 'long', year: 'numeric' }).format(moment(ms)),
];

// ---- Live figures, once there are words for them.

let figures;

function followFigures() {
  const isWanted = setting('figures') !== '';
  if (isWanted) figures ??= import('./figures.js');
  figures?.then(module => module.showFigures(isWanted));
}

// ---- What is written as it will look, where that is chosen.

let rich;

// `field` is one for messages that has just been made or has grown.
export function followRich(field) {
  const isWanted = isOurPage && setting('rich') !== '';
  if (isWanted) rich ??= import('./rich-editor.js');
  rich?.then(module => module.showRich(isWanted, field));
}

// ---- The look: the rules of the style sheets for dark screens hold or do not, whatever the system says.

export function applyLook() {
  if (!isOurPage) return;
  if (texts !== '') followFigures();
  followRich();
  const theme = setting('theme');
  const isDark = theme === 'dark' || theme === 'contrast';
  Object.assign(document.documentElement.dataset, { theme, density: setting('density') });
  document.documentElement.style.colorScheme = theme === '' ? '' : isDark ? 'dark' : 'light';
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      rule.condition ??= rule.media.mediaText;
      if (rule.condition === '(prefers-color-scheme: dark)') rule.media.mediaText = theme === '' ? rule.condition : isDark ? 'all' : 'not all';
    }
  }
}

applyLook();
