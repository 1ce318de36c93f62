"""What is shipped for operators of several nodes: alarms for Prometheus that fire, a dashboard for Grafana of metrics that there are, and a file for
docker compose of settings that Martlet knows."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

import yaml

from harness import NotRun, test
from server import ROOT, free_port, program
from test_bus import Nats
from test_nodes import cluster

PACKAGING = os.path.join(ROOT, "Packaging")
RULES = os.path.join(PACKAGING, "alerts.yaml")
DASHBOARD = os.path.join(PACKAGING, "grafana-dashboard.json")
COMPOSE = os.path.join(PACKAGING, "compose-cluster.yaml")
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


@test("a node has the metrics that alarms and dashboard name, and one node the lease; the dashboard tells of each alarm")
def metrics(context):
    nats, port = Nats(), free_port()
    try:
        with cluster("nodes_metrics", 1, metrics_bind=f"127.0.0.1:{port}", bus_url=nats.url):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                page = answer.read().decode()
    finally:
        nats.kill()
    with open(RULES, encoding="utf-8") as f:
        rules = f.read()
    with open(DASHBOARD, encoding="utf-8") as f:
        panels = json.load(f)["panels"]
    queries = " ".join(target["expr"] for panel in panels for target in panel.get("targets", []))
    named = {re.sub("_bucket$", "", name) for name in re.findall(r"(?:martlet|process)_\w+", rules + queries)}
    # A bucket that has never failed has no errors by kind.
    missing = [name for name in named - {"martlet_bucket_errors_total"} if f"# TYPE {name} " not in page]
    assert len(named) > 30 and not missing, missing
    assert "\nmartlet_cluster_leases 1\n" in page, page
    texts = " ".join(panel.get("description", "") for panel in panels)
    untold = [alarm for alarm in re.findall(r"- alert: (\w+)", rules) if alarm not in texts]
    assert not untold, untold
    assert len({panel["id"] for panel in panels}) == len(panels)


def filled(text, values):
    """With the variables of docker compose replaced: ${NAME}, ${NAME:-default} and ${NAME:?why}."""
    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}", lambda found: values.get(found[1], found[2]) or "", text)


@test("the file for docker compose has settings that Martlet accepts, files that are there, and the addresses of the load balancer's file")
def compose(context):
    with open(os.path.join(PACKAGING, "compose-cluster.env"), encoding="utf-8") as f:
        values = dict(line.strip().split("=", 1) for line in f if "=" in line and not line.startswith("#"))
    with open(COMPOSE, encoding="utf-8") as f:
        text = f.read()
    needed = set(re.findall(r"\$\{(\w+):\?", text))
    assert needed == values.keys(), (needed, values)
    whole = yaml.safe_load(filled(text, {name: value or "secret" for name, value in values.items()}))
    services = whole["services"]
    with open(os.path.join(PACKAGING, "haproxy.cfg"), encoding="utf-8") as f:
        proxy = f.read()
    for name, service in services.items():
        assert set(service.get("depends_on", [])) <= services.keys(), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            # The certificate is the operator's.
            assert source in whole["volumes"] or source == "./martlet.pem" or os.path.exists(os.path.join(PACKAGING, source)), volume
    nodes = [name for name in services if name.startswith("node")]
    assert len(nodes) == 3
    for name in nodes:
        settings = services[name]["environment"]
        assert f"{services[name]['networks']['nodes']['ipv4_address']}:8008" in proxy and settings["MARTLET_BIND"] == "0.0.0.0:8008", name
        assert settings["MARTLET_TRUSTED_PROXIES"] == services["haproxy"]["networks"]["nodes"]["ipv4_address"]
        _, media = settings["MARTLET_CALLS_BIND"].split(":")
        assert services[name]["ports"] == [f"{media}:{media}/udp", f"{media}:{media}"], name
        with tempfile.TemporaryDirectory(prefix="martlet-test-") as folder:
            environment = {**{key: value for key, value in os.environ.items() if not key.startswith("MARTLET_")}, **settings,
                           "MARTLET_CLUSTER_NODE": services[name]["hostname"], "MARTLET_CLUSTER_ADDRESS": f"{name}:8009",
                           "MARTLET_REGISTRATION": "closed", "MARTLET_DATA_DIR": folder}
            done = subprocess.run([program(), "config", "check"], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            assert done.returncode == 0 and "does not name a setting" not in done.stdout + done.stderr, done.stdout + done.stderr
