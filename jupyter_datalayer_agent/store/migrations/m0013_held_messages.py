"""Messages that wait and do not run by themselves after a turn that was stopped."""

from __future__ import annotations

import sqlalchemy as sa


def upgrade(connection: sa.Connection) -> None:
    """Add the column; what waits in an old database is not held."""
    connection.exec_driver_sql("ALTER TABLE queued_ops ADD COLUMN held BOOLEAN DEFAULT 0 NOT NULL")
