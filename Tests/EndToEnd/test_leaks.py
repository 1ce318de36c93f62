"""The search for keys and tokens in logs, consoles and artifacts finds them: it goes on after each test."""
import os
import tempfile
import types

import leaks
import server
from browser import people
from client import User
from harness import Runner, test

RECOVERY_KEY = "EsTc LW2K PGiF wKEA 3As5 g5c4 BXwk qeeJ ZJV8 Q9fu gUMN UE4d"
SECRETS = {
    "a recovery key": f"Keep this: {RECOVERY_KEY}",
    "the key of a room": '"session_key": "' + "AgAAAAC" * 30 + '"',
    "a file of room keys": "-----BEGIN MEGOLM SESSION DATA-----",
    "the key of a file": '{"alg":"A256CTR","k":"aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0"}',
    "the key of a file in an address": "blob#aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0&w%2BsE15fzSc0AAAAAAAAAAA&fdS",
    "a private key": '"pickle":"' + "gAAAAA" * 10 + '"',
    "a secret of another device": '{"type":"m.secret.send","content":{"request_id":"r","secret":"' + "c2VjcmV0" * 6 + '"}}',
    "an access token": "Authorization: Bearer mct_abcdefghijklmnopqrstuvwxyz",
}
HARMLESS = """GET /_matrix/client/v3/rooms/!room:test.example/event/$aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0 200
"sender_key":"IlRMeOPX2e0MurIyfWEucYBRVOEEUMrOHqn/8mLqMjA","session_id":"IlRMeOPX2e0MurIyfWEucYBRVOEEUMrOHqn/8mLqMjA"
the session has ended; ask for a token; Bearer of news
"""


@test("the search of logs finds each kind of key, also one that was written in two parts, and says nothing of what it found but its kind")
def _(context):
    assert set(SECRETS) == set(leaks.SHAPES), "a shape without an example"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "server.log")
        for name, text in SECRETS.items():
            logs = leaks.Logs()
            with open(path, "w", encoding="utf-8") as file:
                file.write(HARMLESS)
                file.flush()
                assert logs.leaks([path]) == [], name
                file.write(text[:-8])
                file.flush()
                logs.leaks([path])
                file.write(text[-8:] + "\n")
            found = logs.leaks([path]) or leaks.Logs().leaks([path])
            assert found == [f"{name} stands in server.log"], f"{name}: {found}"
            assert logs.leaks([path]) == [], "it was told"


@test("a token that a test knows, and a key in an artifact or in the log of a server, make that test fail")
def _(context):
    user = User(context.base, "leaker")
    leaks.keep_secret("known-only-here-1234")
    with tempfile.TemporaryDirectory() as folder:
        log, artifact = os.path.join(folder, "server.log"), os.path.join(folder, "artifacts", "report.json")
        os.mkdir(os.path.dirname(artifact))
        server.logs.append(log)
        try:
            for place, text in ((artifact, "known-only-here-1234"), (log, SECRETS["an access token"]), (artifact, user.token)):
                runner = Runner(types.SimpleNamespace(artifacts=os.path.dirname(artifact)))
                with open(place, "w", encoding="utf-8") as file:
                    file.write(text)
                try:
                    runner.search_logs()
                except AssertionError as error:
                    assert os.path.basename(place) in str(error) and text not in str(error), error
                else:
                    raise AssertionError(f"{place} was not searched")
                os.remove(place)
        finally:
            server.logs.remove(log)


@test("a key in the console of a page makes the test fail", browser=True)
async def _(test):
    try:
        async with people(test, "alice") as alice:
            await alice.open()
            await alice.page.evaluate("words => console.info(words)", SECRETS["a recovery key"])
    except AssertionError as error:
        assert "a recovery key" in str(error) and RECOVERY_KEY not in str(error), error
    else:
        raise AssertionError("nobody saw it")
