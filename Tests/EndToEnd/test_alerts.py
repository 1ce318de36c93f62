"""The alarms that are shipped for Prometheus: they fire, and name metrics that there are."""
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

from harness import NotRun, test
from server import ROOT, free_port
from test_nodes import cluster

RULES = os.path.join(ROOT, "Packaging", "alerts.yaml")
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alerts_test.yaml")


@test("each alarm for Prometheus fires when something is wrong, and is silent while all is well")
def alarms(context):
    if not shutil.which("promtool"):
        raise NotRun("promtool is not installed (Scripts/install-dependencies --test)")
    with open(RULES, encoding="utf-8") as f:
        alarms = re.findall(r"- alert: (\w+)", f.read())
    with open(CASES, encoding="utf-8") as f:
        cases = f.read()
    assert all(cases.count(f"alertname: {alarm}") == 2 for alarm in alarms), "an alarm has no test"
    with tempfile.TemporaryDirectory(prefix="martlet-test-") as folder:
        path = os.path.join(folder, "alerts_test.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(cases.replace("RULES", RULES))
        for arguments in (["check", "rules", RULES], ["test", "rules", path]):
            done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr


@test("a node has the metrics that alarms name, and one node the lease")
def metrics(context):
    port = free_port()
    with cluster("nodes_metrics", 1, metrics_bind=f"127.0.0.1:{port}"):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            page = answer.read().decode()
    with open(RULES, encoding="utf-8") as f:
        named = set(re.findall(r"martlet_\w+", f.read()))
    # A bucket that has never failed has no errors by kind, and this node has no NATS.
    missing = [name for name in named - {"martlet_bucket_errors_total", "martlet_bus_connected"} if f"# TYPE {name} " not in page]
    assert named and not missing, missing
    assert "\nmartlet_cluster_leases 1\n" in page, page
