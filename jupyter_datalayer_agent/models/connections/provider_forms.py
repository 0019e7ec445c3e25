"""What providers need besides or in place of a key: an endpoint, a region, a way to sign in.

A field has the name of the litellm argument that its value is passed as; ``api_base`` is the
address.
https://docs.litellm.ai/docs/providers/azure, https://docs.litellm.ai/docs/providers/bedrock
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

API_KEY = "api_key"
BEARER = "bearer_token"
"""A secret that is sent as ``Authorization: Bearer …`` to the connection's address."""


@dataclass(frozen=True)
class Field:
    """One value. A secret one is kept in the key store, any other in ``connections.json``."""

    name: str
    label: str
    is_secret: bool = False
    is_required: bool = True
    example: str = ""


@dataclass(frozen=True)
class SignIn:
    """One way to sign in."""

    id: str
    label: str
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class ProviderForm:
    """The fields of a provider, and its ways to sign in, the usual one first. ``model_label`` is
    what the provider calls a model's name."""

    fields: tuple[Field, ...]
    sign_ins: tuple[SignIn, ...]
    model_label: str
    model_example: str

    def sign_in(self, named: str | None) -> SignIn | None:
        """The way to sign in with this id, or the first one if ``named`` is None."""
        if named is None:
            return self.sign_ins[0]
        return next((each for each in self.sign_ins if each.id == named), None)


FORMS: Mapping[str, ProviderForm] = {
    "azure": ProviderForm(
        fields=(
            Field("api_base", "Endpoint", example="https://NAME.openai.azure.com"),
            Field("api_version", "API version", is_required=False, example="Default: the newest"),
        ),
        sign_ins=(
            SignIn("key", "API key", (Field(API_KEY, "Key", is_secret=True),)),
            SignIn(
                "token", "Microsoft Entra token", (Field(BEARER, "Access token", is_secret=True),)
            ),
        ),
        model_label="Deployment",
        model_example="my-deployment",
    ),
    "bedrock": ProviderForm(
        fields=(
            Field("aws_region_name", "Region", example="us-east-1"),
            Field(
                "api_base",
                "Endpoint",
                is_required=False,
                example="Default: the region's",
            ),
        ),
        sign_ins=(
            SignIn(
                "keys",
                "Access key",
                (
                    Field("aws_access_key_id", "Access key ID", is_secret=True),
                    Field("aws_secret_access_key", "Secret access key", is_secret=True),
                    Field("aws_session_token", "Session token", is_secret=True, is_required=False),
                ),
            ),
            SignIn("bearer", "Bedrock API key", (Field(API_KEY, "Key", is_secret=True),)),
            SignIn("profile", "AWS profile", (Field("aws_profile_name", "Profile"),)),
            SignIn("computer", "This computer's AWS credentials"),
        ),
        model_label="Model ID",
        model_example="global.anthropic.claude-sonnet-5-5",
    ),
}
