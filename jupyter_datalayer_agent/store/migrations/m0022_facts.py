"""What a turn did, counted from the results of its calls."""

from __future__ import annotations

import sqlalchemy as sa


def upgrade(connection: sa.Connection) -> None:
    """Add the column."""
    connection.exec_driver_sql("ALTER TABLE turns ADD COLUMN facts TEXT")
