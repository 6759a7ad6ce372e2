"""Waiters over TLS, and what each of them costs the server. Python's own `ssl` is slow enough to count as a crowd of strangers:
only memory is weighed here, never time."""

import contextlib
import os
import resource
import socket
import ssl
import subprocess
import time

import machine
from server import Failed

STREAM = "GET /v1/events?session=s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
SETTLE_S = 1.0


def make_certificate(directory):
    certificate, key = os.path.join(directory, "cert.pem"), os.path.join(directory, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    return certificate, key


def open_stream(context, port, key):
    """A stream whose head has come: from then on the server only waits."""
    stream = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 10), server_hostname="localhost")
    stream.sendall(STREAM.format(key=key).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        part = stream.recv(4096)
        if not part:
            raise Failed("a stream was closed")
        head += part
    if not head.startswith(b"HTTP/1.1 200"):
        raise Failed(f"a stream was refused: {head.splitlines()[0].decode()}")
    return stream


def measure(bench, count):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    holdpoint = bench.fresh("park-tls")
    certificate, key_file = make_certificate(holdpoint.directory)
    with holdpoint.start():
        pass  # makes the keys
    context = ssl.create_default_context(cafile=certificate)
    with open(holdpoint.agents, encoding="utf-8") as file, contextlib.ExitStack() as streams:
        keys = file.read().split()
        process = streams.enter_context(holdpoint.start("--tls-cert", certificate, "--tls-key", key_file))
        # What the first ones bring into memory belongs to none of them.
        for key in keys:
            streams.enter_context(open_stream(context, process.port, key))
        before = machine.resident_bytes(process.pid)
        for i in range(count):
            streams.enter_context(open_stream(context, process.port, keys[i % len(keys)]))
        time.sleep(SETTLE_S)
        each = (machine.resident_bytes(process.pid) - before) / count
        bench.add("park_tls_bytes", f"{count:,} event streams over TLS: resident memory each", "bytes", "Holdpoint", each)
        bench.say(f"{count:,} event streams over TLS: {each:,.0f} bytes each")
        process.kill()
    holdpoint.remove()
