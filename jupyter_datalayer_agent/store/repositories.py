"""The open database, and the objects that read and write it. Importing this imports SQLAlchemy."""

from __future__ import annotations

from .file.database import Database
from .file.writer import Publish
from .queries.answers import Answers
from .queries.checkpoints import Checkpoints
from .queries.compactions import Compactions
from .queries.datasets import DatasetQueries
from .queries.event_log import EventLog
from .queries.forks import Forks
from .queries.history import HistoryQueries
from .queries.op_queue import OpQueue
from .queries.plans import Plans
from .queries.renames import DocumentRenames
from .queries.sessions import SessionQueries
from .queries.turns import TurnReader, Turns
from .queries.tutorials import Tutorials
from .queries.upkeep import Upkeep
from .queries.usage import UsageSums
from .queries.withdrawals import Withdrawals


class Repositories:
    """One object for each kind of stored data."""

    def __init__(self, database: Database, vacuum: bool, root: str | None) -> None:
        self.database = database
        self.upkeep = Upkeep(database, vacuum)
        self.sessions = SessionQueries(database, self.upkeep)
        self.turns = Turns(database, self.upkeep, root)
        self.turn_reader = TurnReader(database)
        self.events = EventLog(database)
        self.queue = OpQueue(database)
        self.past = HistoryQueries(database, self.turn_reader)
        self.answers = Answers(database, self.upkeep)
        self.plans = Plans(database)
        self.checkpoints = Checkpoints(database)
        self.compactions = Compactions(database)
        self.tutorials = Tutorials(database)
        self.usage = UsageSums(database)
        self.forks = Forks(database)
        self.withdrawals = Withdrawals(database)
        self.datasets = DatasetQueries(database)
        self.renames = DocumentRenames(database, root)

    @classmethod
    async def open(
        cls,
        database_url: str | None,
        publish: Publish,
        vacuum: bool = True,
        root: str | None = None,
    ) -> Repositories:
        """Open the database, and end the turns of servers that died. ``vacuum``: let the file
        shrink. ``root``: the directory that paths are relative to."""
        repositories = cls(await Database.open(database_url, publish), vacuum, root)
        try:
            await repositories.turns.recover(None)
            await repositories.answers.recover(None)
            repositories.upkeep.go_on()
        except BaseException:
            await repositories.close()
            raise
        return repositories

    async def close(self) -> None:
        """Finish what is being written and close the database."""
        await self.upkeep.close()
        await self.database.close()
