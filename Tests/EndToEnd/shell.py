"""The operator at the shell of the server's machine."""
import json
import subprocess

from server import program


class Operator:
    """Runs `martlet` with the settings of a server."""

    def __init__(self, server):
        self.settings = []
        for name, value in server.settings.items():
            if name != "bind":
                self.settings += ["--" + name.replace("_", "-").replace(".", "-"), str(value)]
        if server.database_url:
            self.settings += ["--database-url", server.database_url]

    def run(self, *words, stdin="", code=0):
        done = subprocess.run([program(), *words, *self.settings], input=stdin, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, f"martlet {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def json(self, *words, stdin=""):
        return json.loads(self.run(*words, "--json", stdin=stdin))
