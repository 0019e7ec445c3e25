"""What of the changes and runs that a turn tried did not come about."""

from __future__ import annotations

import sqlalchemy as sa


def upgrade(connection: sa.Connection) -> None:
    """Add the column."""
    connection.exec_driver_sql("ALTER TABLE turns ADD COLUMN not_done TEXT")
