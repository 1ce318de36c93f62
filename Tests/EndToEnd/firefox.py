"""Firefox by WebDriver BiDi, its own websocket: people click and type, and find things by role and name. https://w3c.github.io/webdriver-bidi/"""
import asyncio
import base64
import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile

import aiohttp

from chromium import ENVIRONMENT
from harness import PATIENCE, NotRun, needs_browser

PROGRAM = os.environ.get("MARTLET_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
# Whether a person can click it.
PLACE = """(element, kind) => {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]') && element.matches(kind);
}"""
# Whether it holds still and nothing lies above it: what moves under the pointer is not clicked.
CAN_BE_HIT = """async element => {
  const before = JSON.stringify(element.getBoundingClientRect());
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const place = element.getBoundingClientRect();
  const hit = document.elementFromPoint(place.x + place.width / 2, place.y + place.height / 2);
  return JSON.stringify(place) === before && hit !== null && (element.contains(hit) || hit.contains(element) || hit.closest('label')?.control === element);
}"""


class Firefox:
    """One window of a fresh profile. `troubles`: what the page wrote to the console as an error or warning."""

    def __init__(self, socket):
        self.socket, self.numbers, self.answers, self.troubles, self.context = socket, itertools.count(1), {}, [], None
        self.reader = asyncio.ensure_future(self._read())

    async def _read(self):
        async for message in self.socket:
            answer = message.json()
            waiting = self.answers.pop(answer.get("id"), None)
            if waiting and not waiting.done():
                if answer["type"] == "error":
                    waiting.set_exception(RuntimeError(f"{answer['error']}: {answer['message']}"))
                else:
                    waiting.set_result(answer["result"])
            elif answer.get("method") == "log.entryAdded" and answer["params"]["level"] in ("error", "warn"):
                self.troubles.append(answer["params"]["text"])

    async def command(self, method, **params):
        number = next(self.numbers)
        self.answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send_json({"id": number, "method": method, "params": params})
        return await asyncio.wait_for(self.answers[number], PATIENCE)

    async def begin(self):
        await self.command("session.new", capabilities={})
        await self.command("session.subscribe", events=["log.entryAdded"])
        self.context = (await self.command("browsingContext.getTree"))["contexts"][0]["context"]
        await self.command("browsingContext.setViewport", context=self.context, viewport={"width": 1100, "height": 800})

    async def open(self, url):
        await self.command("browsingContext.navigate", context=self.context, url=url, wait="complete")

    async def run(self, function, *arguments):
        """The value of a function of the page; arguments are elements or texts."""
        given = [one if isinstance(one, dict) else {"type": "string", "value": one} for one in arguments]
        answer = await self.command("script.callFunction", functionDeclaration=function, arguments=given, awaitPromise=True,
                                    target={"context": self.context})
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    async def find(self, role, name, kind="*"):
        """The element with that role (None: any) and name that a person can see, waited for."""
        wanted = {"name": name, **({"role": role} if role else {})}
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            found = await self.command("browsingContext.locateNodes", context=self.context,
                                       locator={"type": "accessibility", "value": wanted})
            for node in found["nodes"]:
                element = {"sharedId": node["sharedId"]}
                with contextlib.suppress(RuntimeError):  # It went meanwhile.
                    if await self.run(PLACE, element, kind):
                        return element
            assert asyncio.get_running_loop().time() < end, f"no {role} “{name}” in {PATIENCE} s"
            await asyncio.sleep(0.05)

    async def until(self, function, *arguments):
        """Waits until a function of the page is true."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while not await self.run(function, *arguments):
            assert asyncio.get_running_loop().time() < end, f"not in {PATIENCE} s: {function}"
            await asyncio.sleep(0.05)

    async def sees(self, text):
        """Waits for a message with that text."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while not await self.run("text => [...document.querySelectorAll('article')].some(row => row.ariaLabel.endsWith(': ' + text))", text):
            assert asyncio.get_running_loop().time() < end, f"no message “{text}” in {PATIENCE} s"
            await asyncio.sleep(0.05)

    async def click(self, role, name, kind="*"):
        element = await self.find(role, name, kind)
        await self.until(CAN_BE_HIT, element)
        origin = {"type": "element", "element": element}
        actions = [{"type": "pointerMove", "x": 0, "y": 0, "origin": origin}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        await self.command("input.performActions", context=self.context, actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    async def keys(self, text):
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        await self.command("input.performActions", context=self.context, actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    async def write(self, name, text):
        """Into the field of that name."""
        # For passwords there is no role.
        await self.click(None, name, "input, textarea")
        await self.keys(text)

    async def picture(self, path):
        shot = await self.command("browsingContext.captureScreenshot", context=self.context)
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))


async def address_of(process):
    """Where it listens, as it says on its standard error."""
    while True:
        line = await process.stderr.readline()
        assert line, "Firefox ended at once"
        found = re.search(rb"WebDriver BiDi listening on (ws://\S+)", line)
        if found:
            return found[1].decode() + "/session"


async def drain(stream):
    while await stream.read(65536):
        pass


@contextlib.asynccontextmanager
async def firefox(artifacts, **preferences):
    """A fresh one; of `preferences`, which are true or false, an underscore stands for a dot."""
    needs_browser()
    if not PROGRAM:
        raise NotRun("Firefox is not installed (apt-get install firefox-esr)")
    profile = tempfile.mkdtemp(prefix="martlet-firefox-")
    with open(os.path.join(profile, "user.js"), "w", encoding="utf-8") as f:
        f.write('user_pref("intl.accept_languages", "en-GB");\nuser_pref("app.update.enabled", false);\n')
        for name, value in preferences.items():
            f.write(f'user_pref("{name.replace("_", ".")}", {str(value).lower()});\n')
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank",
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, env={**os.environ, **ENVIRONMENT, "HOME": profile})
    draining = None
    try:
        address = await asyncio.wait_for(address_of(process), 60)
        draining = asyncio.ensure_future(drain(process.stderr))
        async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
            browser = Firefox(socket)
            await browser.begin()
            try:
                yield browser
            except Exception:
                with contextlib.suppress(Exception):
                    await browser.picture(os.path.join(artifacts, "firefox-failed.png"))
                print("          console:", browser.troubles[:5])
                raise
            finally:
                browser.reader.cancel()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if draining:
            await draining
        shutil.rmtree(profile, ignore_errors=True)
