// The look that was chosen: the rules of the style sheets for dark screens hold or do not, whatever the system says.

import { setting } from './settings.js';

const darkScreens = '(prefers-color-scheme: dark)';

export function applyLook() {
  const theme = setting('theme');
  const isDark = theme === 'dark' || theme === 'contrast';
  Object.assign(document.documentElement.dataset, { theme, density: setting('density') });
  document.documentElement.style.colorScheme = theme === '' ? '' : isDark ? 'dark' : 'light';
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      rule.condition ??= rule.media.mediaText;
      if (rule.condition === darkScreens) rule.media.mediaText = theme === '' ? rule.condition : isDark ? 'all' : 'not all';
    }
  }
}
