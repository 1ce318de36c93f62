// A file that was asked for before its reader was there.

const answers = new Map();

export function fetchEarly(url) {
  const answer = fetch(url);
  // Its reader hears of it.
  answer.catch(() => {});
  answers.set(new URL(url, import.meta.url).href, answer);
}

// The answer, once; what nobody asked for is asked for now.
export function fetchNow(url) {
  const { href } = new URL(url, import.meta.url);
  const answer = answers.get(href) ?? fetch(url);
  answers.delete(href);
  return answer;
}
