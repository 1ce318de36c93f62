"""Load balancers in front of servers under test, with the files that are shipped for them. Where the nodes are and where clients connect is put in."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from harness import PATIENCE, NotRun
from server import ROOT, free_port


@contextlib.contextmanager
def haproxy(hosts):
    """The host and port where clients connect."""
    port = free_port()
    text = _shipped("haproxy.cfg", hosts).replace("bind :443 ssl crt /etc/haproxy/martlet.pem alpn h2,http/1.1", f"bind 127.0.0.1:{port}")
    with tempfile.TemporaryDirectory(prefix="martlet-proxy-") as folder:
        path = _write(folder, "haproxy.cfg", text)
        with _running(["haproxy", "-db", "-f", path], port):
            yield f"127.0.0.1:{port}"


@contextlib.contextmanager
def nginx(hosts):
    """The host and port where clients connect."""
    port = free_port()
    text = _shipped("nginx-cluster.conf", hosts)
    text = re.sub("listen 443 ssl http2;", f"listen 127.0.0.1:{port};", re.sub(r" *ssl_certificate.*\n", "", text))
    with tempfile.TemporaryDirectory(prefix="martlet-proxy-") as folder:
        own = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path = _write(folder, "nginx.conf", f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors;\nevents {{}}\n"
                                            f"http {{\naccess_log off;\n{own}{text}}}\n")
        with _running(["nginx", "-p", folder, "-c", path, "-e", f"{folder}/errors"], port):
            yield f"127.0.0.1:{port}"


def _shipped(name, hosts):
    with open(os.path.join(ROOT, "Packaging", name), encoding="utf-8") as f:
        text = f.read()
    for number, host in enumerate(hosts, 1):
        assert f"10.0.0.{number}:8008" in text
        text = text.replace(f"10.0.0.{number}:8008", host)
    return text


def _write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


@contextlib.contextmanager
def _running(command, port):
    if not shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin"):
        raise NotRun(f"{command[0]} is not installed (Scripts/install-dependencies --test)")
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}, start_new_session=True)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None, process.stdout.read().decode()
            assert time.monotonic() < end
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.02)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
