"""Our page in Chromium as a client: it is used as a person would, and its view is what stands there."""
import asyncio
import contextlib
import re
import time
from types import SimpleNamespace
from urllib.parse import quote

from browser import expect, open_settings, people
from room_view import page_row

# Tall enough for what is compared at a time: rows out of sight are not on the page.
WINDOW = {"width": 1280, "height": 5000}
STEP_SECONDS = 2
RELOAD_SECONDS = 20
# Without a row that was not seen before.
READ_SECONDS = 10

# What stands in the list once it is scrolled up by so many pixels (null: to its end), everything that is folded opened; without the lines
# that only head what was opened. By so many and not to a place: rows that came above have moved all places. Rows that fade are gone.
SIGHT = """async pixels => {
  const feed = document.querySelector('[role=feed]');
  const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const buttons = (row, words) => [...row.querySelectorAll('button')].filter(button => !button.hidden && button.textContent === words);
  const rows = () => [...feed.querySelectorAll('article')].filter(row => !row.closest('[aria-hidden=true]'));
  feed.scrollTop = pixels === null ? feed.scrollHeight : feed.scrollTop - pixels;
  await drawn();
  for (let step = 0; step < 20; step++) {
    const folded = rows().flatMap(row => buttons(row, 'Show all'));
    if (folded.length === 0) break;
    folded[0].click();
    await drawn();
  }
  for (const again of feed.querySelectorAll('button')) if (again.textContent === 'Try again' && again.checkVisibility()) again.click();
  return {
    top: feed.scrollTop, start: feed.textContent.includes('This is the beginning of the conversation.'),
    rows: rows().filter(row => buttons(row, 'Show less').length === 0).map(row => ({
      spoken: row.ariaLabel,
      buttons: [...row.querySelectorAll('button')].filter(button => button.checkVisibility())
        .map(button => [button.ariaLabel ?? button.textContent, button.ariaPressed !== null]),
    })),
  };
}"""
# Whether each is only invited, and the name.
MEMBERS = """members => members.map(member => {
  const remarks = [...member.querySelectorAll('.ma-remark')].map(remark => remark.textContent);
  return [remarks.includes('invited') ? 'invite' : 'join', member.querySelector('.ma-entry-name').textContent];
})"""


class Unread(Exception):
    """The page does not come to where it is read from."""


class PageClient:
    has_threads_inline = False

    def __init__(self, link, user, room, artifacts):
        self.link, self.user, self.room, self.artifacts = link, user, room, artifacts
        self.steps, self.refusals, self.is_away = asyncio.Queue(), {}, False

    async def start(self):
        self.browser = contextlib.AsyncExitStack()
        place = SimpleNamespace(base=self.link.base, artifacts=self.artifacts)
        self.person = await self.browser.enter_async_context(people(place, "page", whole=True, viewport=WINDOW))
        self.page = self.person.page
        await self.person.sign_in(self.user)
        await self.person.open_room(self.room)
        self.page.set_default_timeout(STEP_SECONDS * 1000)
        self.stepping = asyncio.create_task(self._step())
        return self

    async def end(self):
        self.stepping.cancel()
        await self.browser.aclose()

    # Writing: one step after the other, as a person has one pair of hands

    async def _step(self):
        from playwright.async_api import Error
        while True:
            verb, values, answer = await self.steps.get()
            try:
                await verb(**values)
            except Error as error:
                reason = f"{verb.__name__} {str(error).splitlines()[0]}"
                self.refusals[reason] = self.refusals.get(reason, 0) + 1
                await self._close_dialogs()
            if not answer.done():
                answer.set_result(None)
            self.steps.task_done()

    async def _close_dialogs(self):
        for _ in range(3):
            if await self.person.dialog.count():
                await self.page.keyboard.press("Escape")

    def tell(self, do, **values):
        answer = asyncio.get_running_loop().create_future()
        self.steps.put_nowait((getattr(self, do), values, answer))
        return answer

    @property
    def is_busy(self):
        return self.steps._unfinished_tasks > 0

    async def recover(self):
        """The browser tells the page that the network is back."""
        await self.person.go_offline()
        await self.person.context.set_offline(False)

    async def send(self, text):
        await self._show()
        if await self.person.composer.is_visible():
            await self.person.write(text)

    async def typing(self, on):
        await self._show()
        if await self.person.composer.is_visible():
            await self.person.composer.fill("half a thought" if on else "")

    async def redact(self, event):
        """The last of the own messages that is there."""
        await self._show()
        # What became of it is said of own messages alone.
        own = self.person.message(re.compile(", (Sent|Delivered|Read)[,:]")).filter(has_not_text="deleted")
        if self.link.kind or not await own.count():
            return
        await own.last.click(button="right")
        await self.person.choose("Delete for everyone")
        await self.person.dialog.get_by_role("button", name="Delete for everyone").click()
        await self.page.get_by_role("dialog").wait_for(state="detached")

    async def name(self, text):
        if self.link.kind:
            return
        await open_settings(self.page)
        await self.page.get_by_role("textbox", name="Display name").fill(text)
        await self.page.get_by_role("button", name="Save").click()
        await expect(self.page.get_by_role("button", name="Save")).to_have_attribute("aria-busy", "false", timeout=STEP_SECONDS * 1000)
        await self._close_dialogs()

    async def leave(self):
        if self.link.kind:
            return
        await self._show("/details")
        await self.page.get_by_role("button", name="Leave room").click()
        await self.person.dialog.get_by_role("button", name="Leave room").click()
        await self.page.get_by_role("dialog").wait_for(state="detached")

    async def join(self):
        await self._show()
        for name in ("Join", "Accept"):
            button = self.page.get_by_role("main").get_by_role("button", name=name, exact=True)
            if await button.count():
                await button.click()
                await button.wait_for(state="detached")

    async def away(self):
        self.is_away = True
        await self.page.evaluate("() => { location.hash = ''; }")

    async def restart(self, _):
        await self.tell("reload")

    async def reload(self):
        if not self.link.kind:
            await self.page.reload(timeout=RELOAD_SECONDS * 1000)
            await self.page.get_by_role("button", name="Your profile").wait_for(timeout=RELOAD_SECONDS * 1000)

    async def show(self):
        await self._show()

    async def _show(self, part=""):
        self.is_away = False
        await self.page.evaluate("part => { location.hash = part; }", "room/" + quote(self.room, safe="") + part)

    # Reading

    async def looks(self):
        """For a person to read."""
        await self.person.picture("agreement-page")
        says = await self.page.get_by_role("main").aria_snapshot()
        return f"{await self.page.evaluate('location.hash')} says {says}; refused {self.refusals}; console {self.person.troubles}"

    async def view(self, since, truth):
        from playwright.async_api import Error
        try:
            view = {"unread": await self._badge()}
            if self.is_away:
                return view
            await self._show("/details")
            await self.person.members.first.wait_for()
            view["members"] = sorted(await self.person.members.evaluate_all(MEMBERS))
            view["timeline"] = await self._rows(truth)
            await self._show()
        except (Error, Unread) as error:
            return {"trouble": str(error)}
        waiting = [state for row in view["timeline"] if (state := row.pop("pending", None))]
        return {"trouble": f"on their way: {waiting}"} if waiting else view

    async def _badge(self):
        spoken = " ".join(await self.person.entry("Agreement").evaluate_all("entries => entries.map(entry => entry.ariaLabel)"))
        count = re.search("([0-9]+) unread message", spoken)
        return "0" if not count else "99+" if int(count[1]) > 99 else count[1]

    async def _rows(self, truth):
        """From the first row that is wanted on, the page scrolled up until it is there. Pages of history come by themselves."""
        first = truth.page_rows()[0] if truth.is_part else None
        rows, pixels, deadline = [], None, time.monotonic() + READ_SECONDS
        while time.monotonic() < deadline:
            sight = await self.page.evaluate(SIGHT, pixels)
            known, rows = len(rows), joined([page_row(row) for row in sight["rows"]], rows)
            places = [index for index, row in enumerate(rows) if first and row.get("text") == first["text"]]
            if places:
                return rows[places[-1]:]
            if not first and sight["start"] and sight["top"] < 1:
                return rows
            if len(rows) > known:
                deadline = time.monotonic() + READ_SECONDS
            pixels = WINDOW["height"] * 0.6
        raise Unread(f"{first or 'the start'} does not come in view; it is scrolled to {sight['top']}, the first of {len(rows)} rows is {rows[:1]}")


def joined(upper, lower):
    """Two sights of one list, the upper one with the beginning of the lower one at its end."""
    for length in range(min(len(upper), len(lower)), 0, -1):
        if upper[-length:] == lower[:length]:
            return upper + lower[length:]
    if not lower:
        return upper
    raise Unread(f"what is above ends with {upper[-1:]} and does not meet {lower[:1]}")
