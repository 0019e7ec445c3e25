"""The open database and everything that reads and writes it. Importing this imports SQLAlchemy."""

from __future__ import annotations

from .answers import Answers
from .checkpoints import Checkpoints
from .compactions import Compactions
from .database import Database
from .datasets import Datasets
from .event_log import EventLog
from .forks import Forks
from .op_queue import OpQueue
from .past_reader import PastReader
from .plans import Plans
from .responses import Responses
from .sessions import Sessions
from .turn_reader import TurnReader
from .turns import TurnEnd, Turns, TurnStart
from .tutorials import Tutorials
from .upkeep import Upkeep
from .usage import UsageSums
from .withdrawals import Withdrawals

__all__ = ["Repositories", "TurnEnd", "TurnStart"]


class Repositories:
    """One object for each kind of thing that is kept."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sessions = Sessions(database)
        self.upkeep = Upkeep(database)
        self.turns = Turns(database, self.upkeep)
        self.reader = TurnReader(database)
        self.log = EventLog(database)
        self.queue = OpQueue(database)
        self.past = PastReader(database)
        self.responses = Responses(database)
        self.answers = Answers(database)
        self.plans = Plans(database)
        self.checkpoints = Checkpoints(database)
        self.compactions = Compactions(database)
        self.tutorials = Tutorials(database)
        self.usage = UsageSums(database)
        self.forks = Forks(database)
        self.withdrawals = Withdrawals(database)
        self.datasets = Datasets(database)

    @classmethod
    async def open(cls, database_url: str | None) -> Repositories:
        """Open the database and end the turns of servers that died."""
        repositories = cls(await Database.open(database_url))
        try:
            await repositories.turns.recover(None)
            await repositories.answers.recover(None)
        except BaseException:
            await repositories.close()
            raise
        return repositories

    async def close(self) -> None:
        """Finish what is being written and close the database."""
        await self.upkeep.close()
        await self.database.close()
