// What happens to the page as a whole.

const dark = matchMedia('(prefers-color-scheme: dark)');
const calm = matchMedia('(prefers-reduced-motion: reduce)');

export const isDark = () => dark.matches;
export const isCalm = () => calm.matches;

// By number, as PageChange of Sources/Web/WebHost has them.
export function listenToPage(hear) {
  const tell = change => () => hear(change);
  addEventListener('online', tell(0));
  addEventListener('offline', tell(0));
  document.addEventListener('visibilitychange', tell(1));
  addEventListener('focus', tell(1));
  addEventListener('blur', tell(1));
  // Not hashchange: history.pushState raises neither, going back and forth raises popstate in every case.
  addEventListener('popstate', tell(2));
  dark.addEventListener('change', tell(3));
  calm.addEventListener('change', tell(3));
  addEventListener('pagehide', tell(4));
  document.addEventListener('freeze', tell(4));
  addEventListener('keydown', e => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || e.key.toLowerCase() !== 'k') return;
    e.preventDefault();
    hear(5);
  });
  // What nothing on the page wanted.
  addEventListener('keydown', e => {
    if (e.defaultPrevented || e.isComposing || e.altKey) return;
    const isControl = e.ctrlKey || e.metaKey, isWriting = e.target.matches?.('input, textarea, select, .ma-rich');
    if (isControl ? e.key === '/' : e.key === '?' && !isWriting) {
      e.preventDefault();
      hear(6);
    } else if (e.key === 'Escape' && !isControl && !e.shiftKey && !e.target.matches?.('input, select')) {
      hear(7);
    }
  });
}

export function browserName() {
  const agent = navigator.userAgent;
  const find = pairs => pairs.find(([mark]) => agent.includes(mark))?.[1];
  const browser = find([['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']]);
  const system = find([['Android', 'Android'], ['iPhone', 'iOS'], ['iPad', 'iOS'], ['Windows', 'Windows'], ['Mac OS', 'macOS'], ['CrOS', 'ChromeOS'], ['Linux', 'Linux']]);
  return (browser ?? 'Browser') + (system ? ' on ' + system : '');
}

export function notice(message, action, run = () => location.reload()) {
  const box = document.createElement('div');
  box.className = 'mg-notice';
  box.setAttribute('role', 'alert');
  const sentence = document.createElement('p');
  sentence.textContent = message;
  box.append(sentence);
  if (action) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = action;
    button.addEventListener('click', run);
    box.append(button);
  }
  document.body.prepend(box);
}

// A page of another origin around this one could have people click here without seeing what on: the client as a page is for itself.
export function isInStrangersPage() {
  try {
    for (let page = window; page !== top; page = page.parent) if (page.parent.location.origin !== location.origin) return true;
    return false;
  } catch {
    return true;
  }
}
