"""The promises of test_commands.py again, against `holdpoint serve` itself."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from world import PROGRAM, until

SKIPPED = 77


def answers(url):
    return subprocess.run([PROGRAM, "doctor", "--url", url], capture_output=True, env={}).stdout.find(b"is ready") > 0


def main():
    if subprocess.run([PROGRAM, "serve", "--help"], capture_output=True).returncode != 0:
        return SKIPPED
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        server = subprocess.Popen([PROGRAM, "serve", "--data", data, "--listen", address], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            until(lambda: answers("http://" + address), "the server", 30)
            env = dict(os.environ, HOLDPOINT_URL="http://" + address, HOLDPOINT_ADMIN_TOKEN_FILE=str(data / "admin.key"))
            return subprocess.run([sys.executable, str(Path(__file__).with_name("test_commands.py"))], env=env).returncode
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
