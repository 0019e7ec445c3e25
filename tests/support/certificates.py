"""A certificate authority of the tests, with a server's and a client's certificate."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PLAIN = serialization.NoEncryption()


@dataclass(frozen=True)
class Certificates:
    """Files in PEM."""

    authority: Path
    server: Path
    client: Path
    client_key: Path
    encrypted_key: Path

    def server_context(self) -> ssl.SSLContext:
        """A server that only talks to clients with a certificate of this authority."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.authority))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(self.server)
        return context


def make(folder: Path) -> Certificates:
    """Write them to a new folder."""
    folder.mkdir()
    found = Certificates(*(folder / f"{name}.pem" for name in Certificates.__dataclass_fields__))
    root_key = ec.generate_private_key(ec.SECP256R1())
    root = _certificate("authority", root_key, "authority", root_key)
    found.authority.write_bytes(_pem(root))
    server_key, client_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    server = _certificate("server", server_key, "authority", root_key)
    found.server.write_bytes(_pem(server) + _key_pem(server_key, PLAIN))
    found.client.write_bytes(_pem(_certificate("client", client_key, "authority", root_key)))
    found.client_key.write_bytes(_key_pem(client_key, PLAIN))
    encryption = serialization.BestAvailableEncryption(b"secret")
    found.encrypted_key.write_bytes(_key_pem(client_key, encryption))
    return found


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    now = datetime.datetime.now(tz=datetime.timezone.utc)
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=name == issuer, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(issuer_id, critical=False)
        .sign(issuer_key, hashes.SHA256())
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(
    key: ec.EllipticCurvePrivateKey, encryption: serialization.KeySerializationEncryption
) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, encryption)
