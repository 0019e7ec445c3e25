"""Made-up conversations about data, as text: a vocabulary with a few frequent words and many rare
ones, as in real text, with code, numbers and other scripts between."""

from __future__ import annotations

import random
from itertools import accumulate


def _words(text: str) -> list[str]:
    return text.split()


FREQUENT = _words(
    "the of and to in a is that for it as with on be this we can are from by at not you the data "
    "column values plot model mean rows cell what show how why which train test score load missing"
)
CODE = _words(
    "df_train df_test sns.heatmap plt.show() df.groupby('origin') pd.read_csv np.nan X_train y_pred"
    " model.fit(X_train,y_train) df['price'].mean() sns.scatterplot(x='weight',y='mpg') .dropna()"
)
OTHER = _words(
    'größe température データ 相関 среднее 漢字 평균 متوسط naïve µg/ml pH 100% "quoted" a*b -1'
)
SYLLABLES = _words(
    "ba ce di fo gu la me ni po ru sta cre phi tro ple an er on ist al ing ment ver con"
)
RARE_WORDS = 20_000


class Corpus:
    """Gives texts; the same ones for the same ``seed``."""

    def __init__(self, seed: int = 4) -> None:
        self._random = random.Random(seed)
        rare = {self._word() for _ in range(RARE_WORDS)}
        self.words = [*FREQUENT, *CODE, *OTHER, *sorted(rare)]
        self._weights = list(accumulate(1 / (place + 2) for place in range(len(self.words))))

    def text(self, words: int) -> str:
        """A text of so many words."""
        chosen = self._random.choices(self.words, cum_weights=self._weights, k=words)
        return " ".join(chosen)

    def message(self) -> str:
        """What a user asks."""
        return self.text(self._random.choice((6, 12, 25)))

    def reply(self) -> str:
        """What a model answers."""
        return self.text(self._random.choice((30, 80, 160)))

    def rare(self) -> str:
        """A word that few texts have."""
        return self.words[-self._random.randint(1, 5_000)]

    def _word(self) -> str:
        return "".join(self._random.choices(SYLLABLES, k=self._random.randint(2, 4)))
