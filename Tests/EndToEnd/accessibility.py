"""What a page says to those who do not see it, and whether the others can read it: by axe, and by what axe leaves out, looked up in Chromium's
accessibility tree. Rules: WCAG 2.2 A and AA."""
import importlib.resources
import os

# Roles of interactive elements.
CONTROLS = {"button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "ComboBoxSelect", "listbox", "option", "tab", "menuitem", "slider", "switch", "spinbutton"}
NAMED = CONTROLS | {"dialog", "image", "img", "heading", "tabpanel", "article", "progressbar", "navigation", "complementary", "region"}
LANDMARKS = {"main", "banner", "contentinfo"}

# Ids twice, and references to what is not there.
REFERENCES = """() => {
  const faults = [], ids = new Map();
  for (const { id } of document.querySelectorAll('[id]')) ids.set(id, (ids.get(id) ?? 0) + 1);
  for (const [id, count] of ids) if (count > 1) faults.push(`the ID ${id} stands ${count} times`);
  for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-activedescendant', 'for'])
    for (const node of document.querySelectorAll(`[${name}]`))
      for (const id of node.getAttribute(name).split(/\\s+/)) if (id && !ids.has(id)) faults.push(`${name} names ${id}, which is not there`);
  // What the Tab key comes to has to be something.
  for (const node of document.querySelectorAll('[tabindex="0"]:not([role]):not(button, a, input, pre, select, textarea, summary, article, iframe)'))
    if (node.checkVisibility()) faults.push(`the Tab key comes to a ${node.tagName.toLowerCase()} (${node.className}) without a role`);
  return faults;
}"""

# Texts whose contrast to what lies behind them is too low. Pictures and gradients behind a text are left out.
CONTRAST = """() => {
  // Something may have come in just now. What goes round for ever cannot be finished.
  for (const animation of document.getAnimations()) if (animation.effect?.getComputedTiming().endTime < Infinity) animation.finish();
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colours = new Map();
  const parse = text => {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(text, [r, g, b, a / 255]);
    }
    return colours.get(text);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, k) => value * a + below[k] * (1 - a));
  const luminance = colour => colour.map(value => value / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, k) => sum + value * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = node => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== 'none') return null;
      const colour = parse(style.backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    const base = parse(getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#fff').slice(0, 3);
    return layers.reverse().reduce((below, colour) => over(colour, below), base);
  };
  const faults = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, words = walker.currentNode.data.trim();
    if (!words || !/[\\p{L}\\p{N}]/u.test(words) || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (node.closest(':disabled, [aria-disabled=true], [aria-hidden=true], .mg-avatar, .ma-avatar, svg')) continue;
    const box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(node), back = behind(node);
    if (back === null) continue;
    let opacity = 1;
    for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    const ink = parse(style.color);
    const [one, other] = [luminance(over([...ink.slice(0, 3), ink[3] * opacity], back)), luminance(back)].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05), size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5) - 0.01) faults.push(`contrast ${ratio.toFixed(2)} of "${words.slice(0, 40)}" (${node.className})`);
  }
  return [...new Set(faults)];
}"""

# What a finger cannot hit: less than 44 pixels wide or high, what reaches beyond the drawn edge included. Links within a text, which are as high
# as its lines, and boxes whose words are touched are left out; so is what stands half out of view.
TARGETS = """() => {
  const faults = new Set(), wanted = 44, controls = 'button, a[href], select, input, textarea, summary, [role=button], [role=tab], [role=option], [role=menuitem]';
  for (const node of document.querySelectorAll(controls)) {
    if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || node.disabled || node.closest('[inert], [aria-hidden=true]')) continue;
    if (node.matches('a[href]') && getComputedStyle(node).display === 'inline') continue;
    const box = (node.matches('input') && node.closest('label') || node).getBoundingClientRect();
    if (box.width < 2 || box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight) continue;
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2], reach = wanted / 2 - 1;
    const hits = (x, y) => {
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return true;
      const hit = document.elementFromPoint(x, y);
      return hit !== null && (node.contains(hit) || (node.labels && [...node.labels].some(label => label.contains(hit))));
    };
    if (!hits(x, y)) continue;
    const isWide = box.width >= wanted || (hits(x - reach, y) && hits(x + reach, y));
    const isHigh = box.height >= wanted || (hits(x, y - reach) && hits(x, y + reach));
    if (!isWide || !isHigh) faults.add(`${Math.round(box.width)}×${Math.round(box.height)} pixels of ${node.className || node.tagName} "${(node.ariaLabel ?? node.textContent).slice(0, 30)}"`);
  }
  return [...faults];
}"""

# What large text makes of a screen: controls that lie outside of what can be scrolled to, words that do not fit in their control, what scrolls sideways.
# Rows of tabs and source text may scroll.
CUTS = """() => {
  const found = new Set(), root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.add(`the page is ${root.scrollWidth - innerWidth} pixels wider than the window`);
  const name = node => `“${(node.ariaLabel || node.textContent.trim() || node.placeholder || '').slice(0, 40)}” (${node.className})`;
  const isShown = node => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !node.closest('[inert], [aria-hidden=true]');
  for (const node of document.querySelectorAll('button, a[href], input, select, textarea, [role=tab], [role=menuitem], [role=option], [contenteditable=true]')) {
    const box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || !isShown(node)) continue;
    let isReachedX = false, isReachedY = false;
    for (let up = node.parentElement; up && up !== document.body; up = up.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(up), at = up.getBoundingClientRect();
      isReachedX ||= /auto|scroll/.test(overflowX) && up.scrollWidth > up.clientWidth;
      isReachedY ||= /auto|scroll/.test(overflowY) && up.scrollHeight > up.clientHeight;
      if (overflowX !== 'visible' && !isReachedX && (box.left < at.left - 1 || box.right > at.right + 1)) found.add(`${name(node)} is cut off at the side`);
      if (overflowY !== 'visible' && !isReachedY && (box.top < at.top - 1 || box.bottom > at.bottom + 1)) found.add(`${name(node)} is cut off above or below`);
      if (position === 'fixed') break;
    }
    if (!isReachedX && (box.left < -1 || box.right > innerWidth + 1)) found.add(`${name(node)} is beside the window`);
    if (!isReachedY && (box.top < -1 || box.bottom > innerHeight + 1)) found.add(`${name(node)} is above or below the window`);
    for (const part of /^(A|SELECT|INPUT|TEXTAREA)$/.test(node.tagName) ? [] : [node, ...node.querySelectorAll('*')]) {
      const style = getComputedStyle(part), range = document.createRange();
      if (style.textOverflow === 'ellipsis' || ![...part.childNodes].some(child => child.nodeType === 3 && /[\\p{L}\\p{N}]/u.test(child.data))) continue;
      range.selectNodeContents(part);
      const words = range.getBoundingClientRect();
      if (words.left < box.left - 2 || words.right > box.right + 2) found.add(`the words of ${name(node)} stick out at the side`);
      // Lines of text reach a little over the letters.
      if (words.top < box.top - 4 || words.bottom > box.bottom + 4) found.add(`the words of ${name(node)} stick out above or below`);
    }
  }
  // Words of names and addresses may be longer than any line.
  for (const node of document.querySelectorAll('button')) {
    if (!isShown(node)) continue;
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (walker.nextNode()) for (const { 0: word, index } of walker.currentNode.data.matchAll(/(?<![\\p{L}\\p{N}.])\\p{L}{2,10}(?![\\p{L}\\p{N}])/gu)) {
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.add(`“${word}” of ${name(node)} is broken`);
    }
  }
  const canvas = document.createElement('canvas').getContext('2d');
  for (const node of document.querySelectorAll('input[placeholder], textarea[placeholder]')) {
    if (node.value !== '' || node.clientWidth < 2 || !isShown(node)) continue;
    const { paddingLeft, paddingRight } = getComputedStyle(node), room = node.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    canvas.font = getComputedStyle(node, '::placeholder').font;
    const words = canvas.measureText(node.placeholder).width;
    if (words > room + 1) found.add(`the placeholder of ${name(node)} is ${Math.round(words - room)} pixels too wide`);
  }
  // A table is read by its columns, which may be beside the window (WCAG 2.2, 1.4.10).
  for (const node of document.querySelectorAll('*:not(pre, code, [role=tablist], [role=toolbar], :has(> table))'))
    if (/auto|scroll/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0 && isShown(node))
      found.add(`(${node.className}) scrolls sideways by ${node.scrollWidth - node.clientWidth} pixels`);
  return [...found];
}"""


def tree_faults(nodes):
    faults, by_id, mains = [], {node["nodeId"]: node for node in nodes}, 0
    for node in nodes:
        if node.get("ignored"):
            continue
        role, name = node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "").strip()
        if role in NAMED and not name:
            faults.append(f"{role} without a name under {path(node, by_id)}")
        mains += role == "main"
    if mains > 1:
        faults.append(f"{mains} main parts")
    return faults


def path(node, by_id):
    words = []
    while node and len(words) < 4:
        name = node.get("name", {}).get("value", "")[:30]
        if not node.get("ignored"):
            words.append(node.get("role", {}).get("value", "") + (f" '{name}'" if name else ""))
        node = by_id.get(node.get("parentId"))
    return " < ".join(words)


# What axe (https://github.com/dequelabs/axe-core) finds. It wants all in a landmark, also a menu, which belongs to its button; and a main part, also
# on a phone, where the list of rooms, a navigation, has the whole page. Its own look at contrast takes half a second: CONTRAST takes a tenth.
AXE = """async withContrast => {
  const options = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: withContrast }, 'landmark-one-main': { enabled: innerWidth >= 720 } } };
  const { violations } = await axe.run(document, options);
  const isOfMenu = ({ id, nodes }) => id === 'region' && nodes.every(({ target }) => document.querySelector(target.join(' '))?.closest('[role=menu], :has(> [role=menu])'));
  return violations.filter(violation => !isOfMenu(violation)).flatMap(({ id, help, nodes }) => nodes.slice(0, 5).map(({ target, failureSummary }) =>
    `axe ${id}: ${help} (${target.join(' ')}) ${failureSummary.split('\\n').slice(1).join(' ').trim().slice(0, 200)}`));
}"""


async def axe_faults(person):
    if not await person.page.evaluate("'axe' in window"):
        package = importlib.resources.files("axe_playwright_python")
        await person.page.evaluate(package.joinpath("axe.min.js").read_text(encoding="utf-8"))
    return await person.page.evaluate(AXE, os.environ.get("MARTLET_LONG") == "1")


async def faults(person):
    """Everything that is wrong with what the page shows now."""
    await person.rest()
    devtools = await person.context.new_cdp_session(person.page)
    nodes = (await devtools.send("Accessibility.getFullAXTree"))["nodes"]
    await devtools.detach()
    return tree_faults(nodes) + await person.page.evaluate(REFERENCES) + await person.page.evaluate(CONTRAST) + await axe_faults(person)


async def check(person, where):
    tell(await faults(person), where)


async def check_contrast(person, where):
    """All that can differ between looks, whose colours do."""
    await person.rest()
    tell(await person.page.evaluate(CONTRAST), where)


def tell(found, where):
    assert not found, f"{where}: " + "; ".join(found[:12])
