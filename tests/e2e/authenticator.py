"""A software authenticator: makes passkeys and signs with them as WebAuthn says, or wrongly where a test wants it so. Its
cryptography is Python's, so that the server is checked by somebody else's."""
import base64
import hashlib
import json
import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ES256, EDDSA, RS256 = -7, -8, -257
PRESENT, VERIFIED, ELIGIBLE, BACKED_UP, CREDENTIAL, EXTENSIONS = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    for low, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << (8 * size):
            return bytes([major << 5 | low]) + number.to_bytes(size, "big")
    raise ValueError(number)


def cbor(value):
    """CBOR of what authenticators write."""
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())
    raise TypeError(value)


class Passkey:
    """One credential. `origin`, `rp_id`, `flags` and `counts` may be bent by a test."""

    def __init__(self, origin, rp_id="localhost", algorithm=ES256, counts=True):
        self.origin, self.rp_id, self.algorithm, self.counts = origin, rp_id, algorithm, counts
        self.flags = PRESENT | VERIFIED
        self.counter = 1 if counts else 0
        self.id = os.urandom(32)
        self.user = b""
        self.key = {ES256: lambda: ec.generate_private_key(ec.SECP256R1()),
                    EDDSA: ed25519.Ed25519PrivateKey.generate,
                    RS256: lambda: rsa.generate_private_key(65537, 2048)}[algorithm]()

    def cose(self):
        public = self.key.public_key()
        if self.algorithm == ES256:
            numbers = public.public_numbers()
            return cbor({1: 2, 3: ES256, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})
        if self.algorithm == EDDSA:
            return cbor({1: 1, 3: EDDSA, -1: 6, -2: public.public_bytes(Encoding.Raw, PublicFormat.Raw)})
        numbers = public.public_numbers()
        return cbor({1: 3, 3: RS256, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")})

    def sign(self, data):
        if self.algorithm == ES256:
            return self.key.sign(data, ec.ECDSA(hashes.SHA256()))
        if self.algorithm == EDDSA:
            return self.key.sign(data)
        return self.key.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def client_data(self, type, challenge, **more):
        return json.dumps({"type": type, "challenge": challenge, "origin": self.origin, "crossOrigin": False, **more}).encode()

    def authenticator_data(self, flags, rest=b""):
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4, "big") + rest

    def create(self, options, attestation=None, client=None):
        """Answers navigator.credentials.create()."""
        options = options["publicKey"]
        self.user = unb64(options["user"]["id"])
        client = client or self.client_data("webauthn.create", options["challenge"])
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self.cose()
        data = self.authenticator_data(self.flags | CREDENTIAL, attested)
        whole = attestation(data, client) if attestation else {"fmt": "none", "attStmt": {}, "authData": data}
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "authenticatorAttachment": "platform",
                "clientExtensionResults": {},
                "response": {"clientDataJSON": b64(client), "attestationObject": b64(cbor(whole)), "transports": ["internal"],
                             "publicKeyAlgorithm": self.algorithm}}

    def get(self, options, type="webauthn.get", handle=True, **client_more):
        """Answers navigator.credentials.get()."""
        if self.counts:
            self.counter += 1
        client = self.client_data(type, options["publicKey"]["challenge"], **client_more)
        data = self.authenticator_data(self.flags)
        signature = self.sign(data + hashlib.sha256(client).digest())
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "clientExtensionResults": {},
                "response": {"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature),
                             "userHandle": b64(self.user) if handle else None}}


def register(server, session, name="laptop", **more):
    """A passkey of the person who is signed in."""
    options = session.post("/v1/passkeys/options")
    assert options.status == 200, options
    passkey = Passkey(f"http://localhost:{server.port}", **more)
    added = session.post("/v1/passkeys", {"name": name, "credential": passkey.create(options.json)})
    assert added.status == 201, added
    passkey.name = added["id"]
    return passkey
