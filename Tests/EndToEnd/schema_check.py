"""What the specification's OpenAPI description says about an answer, and what was seen of each operation."""
import json
import os
import re

import jsonschema

SPEC_NAME = "openapi-client-server.json"


def specification_path():
    """The OpenAPI file that $MARTLET_SPEC names, or its folder has, else that of ../shared/spec; None without one."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.environ.get("MARTLET_SPEC") or os.path.join(os.path.dirname(root), "shared", "spec")
    if os.path.isdir(path):
        path = os.path.join(path, SPEC_NAME)
    return path if os.path.exists(path) else None


# What proposals that the server follows answer beyond the specification. MSC4174: a pusher waits to be activated.
PROPOSED = {("/_matrix/client/v3/pushers/set", 201)}


class Specification:
    """The operations of the description, found by method and path."""

    def __init__(self, document):
        self.operations = []
        for template, item in document["paths"].items():
            pattern = "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/"))
            self.operations.append((template.count("{"), template, re.compile(pattern), item))
        self.operations.sort(key=lambda operation: (operation[0], operation[1]))
        self.validators = {}

    def find(self, method, path):
        """The template of the path and the operation, or None twice; the one with the fewest placeholders goes first."""
        for _, template, pattern, item in self.operations:
            if method in item and pattern.fullmatch(path):
                return template, item[method]
        return None, None

    def validator(self, template, method, status, operation):
        """None: the status has no JSON schema."""
        key = (template, method, status)
        if key not in self.validators:
            response = operation.get("responses", {}).get(str(status), {})
            schema = response.get("content", {}).get("application/json", {}).get("schema")
            self.validators[key] = jsonschema.Draft202012Validator(schema) if schema is not None else None
        return self.validators[key]


class Checker:
    """What was seen, and what was wrong with it."""

    def __init__(self, specification):
        self.specification = specification
        self.answers = {}
        self.tests = {}
        self.mismatches = {}

    def check(self, method, path, status, content_type, body, test=None):
        """`test` is the sentence of the test that asked."""
        template, operation = self.specification.find(method.lower(), path)
        if operation is None:
            return
        name = f"{method} {template} {status}"
        self.answers[name] = self.answers.get(name, 0) + 1
        if test is not None:
            self.tests.setdefault(name, set()).add(test)
        for what, detail in self.faults(method.lower(), template, status, operation, content_type, body):
            entry = self.mismatches.setdefault(f"{name}: {what}", {"times": 0, "path": path, "detail": detail[:500], "body": body[:800].decode("utf-8", "replace")})
            entry["times"] += 1

    def faults(self, method, template, status, operation, content_type, body):
        # 502 and 504 say that another server failed, 507 that the disk is full.
        if status >= 500 and status not in (502, 504, 507) and str(status) not in operation.get("responses", {}):
            yield "a server error", ""
        declares_json = "application/json" in operation.get("responses", {}).get(str(status), {}).get("content", {})
        if status < 400 and not declares_json:
            known = status in (206, 304) or (template, status) in PROPOSED
            if str(status) not in operation.get("responses", {}) and not known:
                yield "the specification has no such status here", ""
            return
        if status >= 400 and content_type == "text/html" and "302" in operation.get("responses", {}):
            return  # people go there with a browser
        if content_type != "application/json":
            yield "the content type is not application/json", content_type
            return
        try:
            value = json.loads(body)
        except ValueError as error:
            yield "the body is not JSON", str(error)
            return
        if status >= 400 and not (isinstance(value, dict) and isinstance(value.get("errcode"), str)) and not (status == 401 and "flows" in value):
            yield "an error without errcode", ""
        if status == 401 and isinstance(value, dict) and value.get("errcode") in ("M_MISSING_TOKEN", "M_UNKNOWN_TOKEN"):
            return
        if value == {} and status == 200 and template.endswith("/voip/turnServer"):
            return  # the prose lets servers without TURN say so; the schema has no word for it
        validator = self.specification.validator(template, method, status, operation)
        for error in validator.iter_errors(value) if validator else ():
            place = "/".join("*" if isinstance(part, int) or str(part)[:1] in "!$@#%" else str(part) for part in error.absolute_path)
            yield f"{error.validator} at {place or 'the top'}", error.message

    def report(self):
        tests = {name: sorted(tests) for name, tests in self.tests.items()}
        return {"answers": self.answers, "tests": tests, "mismatches": self.mismatches}

    def summary(self):
        return summary(self.report())


def merged(reports):
    """One report of several."""
    answers, tests, mismatches = {}, {}, {}
    for report in reports:
        for name, times in report["answers"].items():
            answers[name] = answers.get(name, 0) + times
        for name, sentences in report["tests"].items():
            tests[name] = sorted({*tests.get(name, []), *sentences})
        for name, entry in report["mismatches"].items():
            known = mismatches.setdefault(name, {**entry, "times": 0})
            known["times"] += entry["times"]
    return {"answers": answers, "tests": tests, "mismatches": mismatches}


def summary(report):
    operations = {" ".join(name.split(" ")[:2]) for name in report["answers"]}
    lines = [f"schema check: {sum(report['answers'].values())} answers of {len(operations)} operations, {len(report['mismatches'])} kinds of mismatch"]
    lines += [f"  {entry['times']} x {name} ({entry['detail'][:160]})" for name, entry in sorted(report["mismatches"].items())]
    return "\n".join(lines)
