"""`MartletCall` in pages: that its declarations are true."""
from declarations import Declarations, Script, read, require_same_methods, same_argument
from harness import test


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
