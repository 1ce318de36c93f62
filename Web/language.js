// The reader's language: which one it is, the page's texts in it, and its plurals.

import { setting } from './settings.js';

const root = document.getElementById('app') ?? document.body;
const spoken = root.dataset.languages;
// Not a demo or another's page, which has no texts and no settings.
export const isOurPage = spoken !== undefined;

// The page says in which languages there are texts (`texts.LANGUAGE.txt`). Spoken is the one that was chosen here, else the
// first of the reader's that is among them, else the first of all. A page without texts, such as a demo, is in the language it
// is marked with.
const languageOf = tag => tag.split('-')[0].toLowerCase();
const languages = (spoken ?? document.documentElement.lang).split(' ').filter(tag => tag !== '').map(languageOf);
const localeIn = list => navigator.languages.find(tag => list.includes(languageOf(tag)));
const browserLocale = localeIn(languages) ?? languages[0] ?? navigator.language;
const chosen = isOurPage ? languages.filter(language => language === setting('language')) : [];
export let locale = chosen.length > 0 ? localeIn(chosen) ?? chosen[0] : browserLocale;
let texts = '';

function speak(language) {
  document.documentElement.lang = language;
  document.documentElement.dir = ['ar', 'fa', 'he', 'ur'].includes(language) ? 'rtl' : 'ltr';
}

async function fetchTexts(language) {
  const answer = await fetch(new URL(`texts.${language}.txt`, import.meta.url));
  if (!answer.ok) throw new Error('status ' + answer.status);
  texts = await answer.text();
  speak(language);
}

// Where the words of a language cannot be had, those of the first are there.
async function fetchSomeTexts() {
  try {
    await fetchTexts(languageOf(locale));
  } catch (error) {
    if (languageOf(locale) === languages[0]) throw error;
    locale = languages[0];
    await fetchTexts(locale);
  }
}

// Begun at once: the page runs this script by itself, before all others are there.
export const textsLoaded = isOurPage ? fetchSomeTexts() : Promise.resolve();
textsLoaded.catch(() => {});

// What the page itself says: a text by its name.
export const word = name => texts.split('\n').find(line => line.startsWith(name + ' = '))?.slice(name.length + 3);

// A line for each language: its tag and its own name; first what the browser would choose.
function languageList() {
  const name = tag => new Intl.DisplayNames(tag, { type: 'language' }).of(tag);
  return ['', ...languages].map(tag => tag + '\t' + name(tag || languageOf(browserLocale))).join('\n');
}

let plurals, pluralForms;

function pluralForm(count) {
  plurals ??= new Intl.PluralRules(locale);
  pluralForms ??= ['zero', 'one', 'two', 'few', 'many', 'other'].filter(form => plurals.resolvedOptions().pluralCategories.includes(form));
  return pluralForms.indexOf(plurals.select(count));
}

export const languageService = () => ({
  page_language: () => locale,
  page_languages: languageList,
  page_texts: () => texts,
  plural_form: pluralForm,
});
