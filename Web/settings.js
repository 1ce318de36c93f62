// What the browser keeps for the page in small: settings by name.

const root = document.getElementById('app') ?? document.body;

// In a frame the page around it may decide some of them. Browsers throw if they let the page keep nothing.
export const settings = () => root.frame?.settings ?? localStorage;

// '' if there is none.
export function setting(name) {
  try { return settings().getItem(name) ?? ''; } catch { return ''; }
}

// In private mode, or when the storage is full, a setting is not kept.
function attempt(run) {
  try { return run(); } catch { return null; }
}

export const settingService = () => ({
  setting_get: key => attempt(() => settings().getItem(key)),
  setting_set: (key, value) => attempt(() => settings().setItem(key, value)),
  setting_remove: key => attempt(() => {
    settings().removeItem(key);
    // Names and words of somebody's rooms.
    if (key === 'signed-in') settings().removeItem('kept-list');
  }),
});
