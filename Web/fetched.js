// Files that early.js requests ahead of program.js, which reads them.

const answers = new Map();

export function fetchEarly(url) {
  const answer = fetch(url);
  // A failure reaches the code that takes the answer. Until then it must not count as an unhandled rejection.
  answer.catch(() => {});
  answers.set(new URL(url, import.meta.url).href, answer);
}

// The answer of the early request, once, because its body can be read only once. Any other URL is requested now.
export function fetchNow(url) {
  const { href } = new URL(url, import.meta.url);
  const answer = answers.get(href) ?? fetch(url);
  answers.delete(href);
  return answer;
}
