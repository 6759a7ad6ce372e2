"""A push service and the browsers behind it: takes what the server sends, checks who sends, and decrypts it with keys that the
server has never seen (RFC 8030, 8188, 8291, 8292; the cryptography is Python's)."""
import hashlib
import hmac
import http.server
import json
import os
import queue
import threading

from authenticator import b64, unb64
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

PATIENCE_S = 30


def hkdf(salt, ikm, info, length):
    prk = hmac.new(salt, ikm, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\x01", hashlib.sha256).digest()[:length]


class Browser:
    """One subscription."""

    def __init__(self, service):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.secret = os.urandom(16)
        self.path = "/p/" + os.urandom(6).hex()
        self.service = service
        self.messages = queue.Queue()
        self.statuses = []  # what to answer next, instead of 201
        service.browsers[self.path] = self

    def subscription(self):
        return {"endpoint": self.service.url + self.path, "expirationTime": None,
                "keys": {"p256dh": b64(self.public), "auth": b64(self.secret)}}

    def decrypt(self, body):
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21:21 + length], body[21 + length:]
        assert size == 4096 and length == 65 and len(sealed) <= size
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        ikm = hkdf(self.secret, shared, b"WebPush: info\0" + self.public + sender, 32)
        key = hkdf(salt, ikm, b"Content-Encoding: aes128gcm\0", 16)
        nonce = hkdf(salt, ikm, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        assert plain.endswith(b"\x02")
        return json.loads(plain[:-1])

    def next(self, timeout_s=PATIENCE_S):
        return self.messages.get(timeout=timeout_s)


class PushService:
    def __init__(self):
        self.browsers = {}
        self.problems = []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                browser = service.browsers.get(self.path)
                status = 404 if browser is None else browser.statuses.pop(0) if browser.statuses else 201
                if status == 201:
                    try:
                        service.check(self.headers)
                        browser.messages.put({"headers": dict(self.headers), "message": browser.decrypt(body)})
                    except Exception as error:  # the test looks at it
                        service.problems.append(repr(error))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def check(self, headers):
        """VAPID: signed by the key it names, for this service, for a day at most."""
        assert headers["Content-Encoding"] == "aes128gcm", headers
        assert int(headers["TTL"]) >= 0
        scheme, _, rest = headers["Authorization"].partition(" ")
        assert scheme == "vapid", scheme
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        signed, _, signature = parts["t"].rpartition(".")
        raw = unb64(signature)
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(parts["k"]))
        der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        public.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
        claims = json.loads(unb64(signed.split(".")[1]))
        assert claims["aud"] == self.url, claims
        self.server_key = parts["k"]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
