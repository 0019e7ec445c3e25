"""Pandas: from a file to an answer, with the penguins of the Palmer Archipelago."""

from __future__ import annotations

from ..lesson import LessonContent, TutorialContent

LOAD = 'import pandas as pd\n\npenguins = pd.read_csv("penguins.csv")\n'

PANDAS_BASICS = TutorialContent(
    id="pandas-basics",
    package="pandas_basics",
    title="Pandas basics",
    description=(
        "Load a table, look at it, take parts of it, compute by group, and join two tables."
    ),
    data=("penguins.csv", "islands.csv"),
    lessons=(
        LessonContent(
            title="Loading data",
            explanation=(
                "A table in pandas is a `DataFrame`: named columns, numbered rows. `pd.read_csv` "
                "makes one from a CSV file, whose first line holds the columns' names. The file "
                "`penguins.csv` beside this notebook has one line for each of several hundred "
                "penguins that were measured in Antarctica.\n\n"
                "`len(table)` is the number of rows, `table.columns` the columns, and "
                "`table.shape` both numbers at once: (rows, columns)."
            ),
            starter_code="import pandas as pd\n\npenguins = ...\nn_rows = ...\nn_columns = ...\n",
            task=(
                "Read `penguins.csv` into `penguins`. Then let pandas count: the number of its "
                "rows in `n_rows`, the number of its columns in `n_columns`."
            ),
            expected_output="A table of 344 rows and 7 columns: `n_rows` 344, `n_columns` 7.",
            hint='`pd.read_csv("penguins.csv")`; `penguins.shape` is the pair of both numbers.',
            check="loading",
        ),
        LessonContent(
            title="Exploring data",
            explanation=(
                "Before any analysis, look at what is there. `penguins.head()` shows the first "
                "rows, `penguins.dtypes` the kinds of the columns, `penguins.describe()` a summary "
                'of the numbers. A column is `penguins["body_mass_g"]`; it has methods such as '
                "`.mean()`, `.max()` and `.value_counts()`, which counts how often each value "
                "comes.\n\n"
                "Values may be missing. `penguins.isna()` says of each value whether it is; "
                "`.sum()` after it counts them, column by column, since True counts as 1."
            ),
            starter_code=LOAD + "\nmissing = ...\nmean_mass = ...\nspecies = ...\n",
            task=(
                "Put into `missing` the number of missing values of each column, into `mean_mass` "
                "the mean of `body_mass_g`, and into `species` the number of penguins of each "
                "species."
            ),
            expected_output=(
                "`missing`: 2 for each measurement, 11 for sex, 0 for the rest. `mean_mass`: "
                "4201.75. `species`: Adelie 152, Gentoo 124, Chinstrap 68."
            ),
            hint=(
                '`penguins.isna().sum()`, `penguins["body_mass_g"].mean()`, '
                '`penguins["species"].value_counts()`.'
            ),
            check="exploring",
        ),
        LessonContent(
            title="Selecting and filtering",
            explanation=(
                'One name in brackets takes a column: `penguins["species"]`. A list of names takes '
                'a smaller table: `penguins[["species", "island"]]`.\n\n'
                'A comparison gives True or False for each row: `penguins["body_mass_g"] > 4000`. '
                "In brackets it takes the rows where it is True. Conditions are joined by `&` "
                "(and) "
                "and `|` (or), each in brackets of its own: "
                '`penguins[(condition) & (condition)]`. `penguins.query("body_mass_g > 4000")` '
                "does the same from a text."
            ),
            starter_code=LOAD + "\nmasses = ...\nheavy = ...\nheavy_biscoe = ...\n",
            task=(
                "`masses`: the columns `species` and `body_mass_g` of all penguins. `heavy`: all "
                "columns of the penguins of more than 4500 g. `heavy_biscoe`: those of them that "
                "live on the island Biscoe."
            ),
            expected_output=(
                "`masses`: 344 rows, 2 columns. `heavy`: 115 rows, 7 columns. `heavy_biscoe`: 109 "
                "rows, 7 columns."
            ),
            hint='`penguins[(penguins["body_mass_g"] > 4500) & (penguins["island"] == "Biscoe")]`',
            check="selecting",
        ),
        LessonContent(
            title="Grouping",
            explanation=(
                "`groupby` splits a table by the values of a column, computes something for each "
                "part and puts the results together. "
                '`penguins.groupby("sex")["bill_length_mm"].max()` is the longest bill of each '
                "sex.\n\n"
                "`.agg` computes several things at once, each with a name of its own:\n\n"
                "```python\n"
                'penguins.groupby("sex").agg(\n'
                '    longest=("bill_length_mm", "max"),\n'
                '    shortest=("bill_length_mm", "min"),\n'
                ")\n"
                "```\n\n"
                '`"count"` counts the values that are there, `"size"` all rows.'
            ),
            starter_code=LOAD + "\nmean_mass = ...\nsummary = ...\n",
            task=(
                "`mean_mass`: the mean of `body_mass_g` for each species. `summary`: for each "
                "island, in a column `penguins` the number of all penguins there, and in a column "
                "`heaviest` the largest `body_mass_g`."
            ),
            expected_output=(
                "`mean_mass`: Adelie 3700.66, Chinstrap 3733.09, Gentoo 5076.02. `summary`: Biscoe "
                "168 and 6300, Dream 124 and 4800, Torgersen 52 and 4700."
            ),
            hint=(
                '`penguins.groupby("island").agg(penguins=("species", "size"), '
                'heaviest=("body_mass_g", "max"))`'
            ),
            check="grouping",
        ),
        LessonContent(
            title="Joining",
            explanation=(
                "`merge` puts two tables side by side where a column agrees: "
                '`left.merge(right, on="key")`. What becomes of rows without a partner is up to '
                '`how`: `"inner"` (as it is when you do not say) drops them, `"left"` keeps all '
                'rows of the left table, `"right"` those of the right one, `"outer"` all. What '
                "is not known is missing then.\n\n"
                "`islands.csv` says where islands lie. It is not complete: look whether each "
                "penguin's island is in it. After a join, always compare the number of rows."
            ),
            starter_code=(
                LOAD + 'islands = pd.read_csv("islands.csv")\n\nlocated = ...\nunknown = ...\n'
            ),
            task=(
                "`located`: every penguin, with the latitude and longitude of its island where "
                "they "
                "are known. `unknown`: the number of penguins of which they are not."
            ),
            expected_output="`located`: 344 rows, 9 columns. `unknown`: 124.",
            hint=(
                '`penguins.merge(islands, on="island", how="left")`, then count with '
                "`.isna().sum()`."
            ),
            check="joining",
        ),
    ),
)
