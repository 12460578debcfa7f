"""What Authlib does for us: the encoded forms of OAuth requests, PKCE, and signed assertions.

The only module that imports it and joserfc, on which it rests. Who is asked for what, in which
order, stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote_plus

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_LIFE = 300  # seconds


def new_secret() -> str:
    """64 random letters and digits: a code verifier, or a state."""
    from authlib.common.security import generate_token

    return str(generate_token(64))


def s256(verifier: str) -> str:
    """The code challenge of a verifier (RFC 7636, 4.2)."""
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    return str(create_s256_code_challenge(verifier))  # type: ignore[no-untyped-call]


def authorization_url(
    endpoint: str,
    client_id: str,
    redirect_uri: str,
    scopes: Sequence[str] | None,
    state: str,
    **more: str,
) -> str:
    """The address that a person opens to say yes (RFC 6749, 4.1.1)."""
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri

    scope = " ".join(scopes or ()) or None
    return str(prepare_grant_uri(endpoint, client_id, "code", redirect_uri, scope, state, **more))


def token_form(fields: Mapping[str, str]) -> str:
    """The body of a token request (RFC 6749, 4.1.3); empty fields are left out."""
    from authlib.oauth2.rfc6749.parameters import prepare_token_request

    return str(prepare_token_request(**fields))


def with_client_secret(
    method: str, client_id: str, client_secret: str, form: str
) -> tuple[dict[str, str], str]:
    """Headers and form with which a client proves who it is: client_secret_basic, _post or none."""
    from authlib.oauth2.auth import ClientAuth

    if method == "client_secret_basic":  # each part is encoded first (RFC 6749, 2.3.1)
        client_id, client_secret = quote_plus(client_id), quote_plus(client_secret)
    prove: Any = ClientAuth(client_id, client_secret, method)
    _, headers, body = prove.prepare("POST", "", {}, form)
    return headers, str(body)


def client_assertion(client_id: str, private_key: str, algorithm: str, audience: str) -> str:
    """A JWT by which a client proves that it holds its key (RFC 7523, 2.2), good for minutes.

    Raises: ValueError for a key that is none, or none for this algorithm.
    """
    from authlib.oauth2.rfc7523 import private_key_jwt_sign
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    kind = ECKey if algorithm[:2] == "ES" else OKPKey if algorithm[:2] == "Ed" else RSAKey
    try:
        key = kind.import_key(private_key)
        return str(
            private_key_jwt_sign(key, client_id, audience, alg=algorithm, expires_in=ASSERTION_LIFE)
        )
    except (ValueError, JoseError):  # their texts may quote the key
        raise ValueError(f"private_key is no PEM key that signs with {algorithm}") from None


# -- keys -----------------------------------------------------------------------------------------


def new_key() -> Any:
    """A fresh key pair on the curve P-256."""
    from joserfc.jwk import ECKey

    return ECKey.generate_key("P-256")


def public_half(key: Any) -> dict[str, str]:
    """What may be shown of a key."""
    return dict(key.as_dict(private=False))


def signed(header: Mapping[str, Any], claims: Mapping[str, Any], key: Any) -> str:
    """A JWT with this header and these claims."""
    from joserfc import jwt

    return str(jwt.encode(dict(header), dict(claims), key, algorithms=[header["alg"]]))
