"""`MartletCall` in pages: that its declarations are true, and recordings."""
from declarations import Declarations, Script, read, require_same_methods, same_argument
from harness import test
from test_calls import MODERATOR, SUBSCRIBER, in_thread
from test_calls_page import ask, button, sees, stage
from test_recording import decoded, fetch, until_available


@test("the declarations of the class are those of its script: methods with their arguments, properties, events and what they tell")
def _(_):
    declared = Declarations("martlet-call.d.ts")
    for name in ("MartletCall", "CallPublisher", "CallSubscriber", "CallError"):
        script, methods, properties = Script("martlet-call.js", name), declared.methods(name), script_properties(name)
        # Pages make calls, and calls the rest.
        made = {method: arguments for method, arguments in script.methods().items() if method != "constructor" or name == "MartletCall"}
        require_same_methods(declared, methods, made)
        assert declared.properties(name) == properties, (declared.properties(name), properties)
    # What `subscribe` hands on.
    *_, options = Script("martlet-call.js", "CallSubscriber").methods()["constructor"]
    assert same_argument(declared, "options", "SubscribeOptions", options), options
    events = declared.events("CallEventMap")
    details = Script("martlet-call.js", "MartletCall").details()
    assert {event: set(detail) for event, detail in events.items()} == details, (events, details)
    for name, count in (("CallPublisher", 3), ("CallSubscriber", 1)):
        told = Script("martlet-call.js", name).dispatched()
        assert declared.listened(name) == told and len(told) == count, (name, told)
    assert len(declared.methods("MartletCall")) > 12 and len(events) > 15


def script_properties(name):
    """Without what every error has."""
    properties = Script("martlet-call.js", name).properties()
    return {key: value for key, value in properties.items() if (name, key) != ("CallError", "name")}


# Lines of what pages of calls have in JavaScript: the browser's objects, and the class. What a call is about is decided in CallCore.
CEILINGS = {"calls.js": 280, "martlet-call.js": 510}


@test("the JavaScript of calls stays thin: it has no more lines than it may")
def _(_):
    lines = {name: read("Web", name).count("\n") for name in CEILINGS}
    assert all(lines[name] <= ceiling for name, ceiling in CEILINGS.items()), (lines, CEILINGS)


# The words that everybody has before them while it is recorded.
RECORDED = "This call is recorded."


@test("a moderator's page starts and stops a recording; everybody sees a badge while it goes on, also who comes then")
async def _(test):
    async with stage(test, "alice", "boris", "carol") as (here, alice, boris, carol):
        await here.join(alice, MODERATOR)
        await here.join(boris)
        await sees(alice)
        assert await ask(boris, "call.startRecording()") == "forbidden"
        assert await button(boris, "Record").count() == 0
        await button(alice, "Record").click()
        for person in (alice, boris):
            await person.page.get_by_text(RECORDED).wait_for()
        archive = await alice.page.evaluate("call.recording")
        assert archive and await boris.page.evaluate("call.recording") == archive
        assert await ask(alice, "call.startRecording()") == "invalid"
        await here.join(carol, SUBSCRIBER)
        await carol.page.get_by_text(RECORDED).wait_for()
        await alice.picture("example-call-recorded")
        for person in (alice, boris):
            await sees(person, more=40)
        await button(alice, "Stop recording").click()
        for person in (alice, boris, carol):
            await person.page.get_by_text(RECORDED).wait_for(state="hidden")
            assert await person.page.evaluate("call.recording") is None
        found = await until_available(here.app, archive)
        assert found["status"] == "available" and len(found["files"]) == 2, found
        for file in found["files"]:
            kinds, _ = decoded(await in_thread(fetch, file["url"]))
            assert kinds["video"]["frames"] > 0 and kinds["audio"]["frames"] > 0, (file, kinds)
        await button(alice, "Record").click()
        await boris.page.get_by_text(RECORDED).wait_for()
        await button(boris, "Leave").click()
        await boris.page.get_by_text(RECORDED).wait_for(state="hidden")
