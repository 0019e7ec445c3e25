"""Which root the paths of a server's turns are relative to: servers with other roots may share the
database, and a rename concerns the documents of one."""

from __future__ import annotations

import sqlalchemy as sa

TABLE = "CREATE TABLE server_roots (server_id TEXT NOT NULL PRIMARY KEY, root TEXT NOT NULL)"


def upgrade(connection: sa.Connection) -> None:
    """Create the table; of earlier turns the root is not known."""
    connection.exec_driver_sql(TABLE)
