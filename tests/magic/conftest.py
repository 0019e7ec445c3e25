"""One real server and one scripted model for the tests of a module."""

from tests.server.conftest import model, server, shared_model

__all__ = ["model", "server", "shared_model"]
