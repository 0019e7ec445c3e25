"""Tasks in which something must not be done, and messages in other languages."""

from __future__ import annotations

from .checks import nothing_changed, says, says_words, unchanged, value_is
from .task import Done, Task, read

_CARS = "import pandas as pd\n\ncars = pd.read_csv('cars.csv')"
_LITRES = "cars['litres'] = 235.215 / cars['Miles_per_Gallon']"


def _there(done: Done) -> str | None:
    return nothing_changed(done) or says(done, read("cars.csv")["Acceleration"].median(), 2)


def _columns(done: Done) -> str | None:
    return nothing_changed(done) or says_words(done, "Horsepower", "Cylinders")


def _kept(done: Done) -> str | None:
    litres = 235.215 / read("cars.csv")["Miles_per_Gallon"]
    return unchanged(done, "cell-2") or value_is(done, "float(best)", float(litres.min()))


def _absent(done: Done) -> str | None:
    return nothing_changed(done) or says_words(done, "NOT AVAILABLE")


def _heaviest(done: Done) -> str | None:
    import pandas as pd

    file = done.folder / "heavy-2.csv"
    if not file.is_file():
        return "there is no file heavy-2.csv"
    heaviest = read("cars.csv").nlargest(3, "Weight_in_lbs")["Name"].tolist()
    try:
        found = pd.read_csv(file)["Name"].tolist()
    except (ValueError, KeyError) as error:
        return f"heavy-2.csv cannot be read: {error}"
    return None if found == heaviest else f"heavy-2.csv has {found}, not {heaviest}"


def _heading(done: Done) -> str | None:
    first, *rest = done.notebook.cells
    if first.cell_type != "markdown" or not first.source.startswith("# Airports"):
        return "the first cell is not the heading"
    if str(len(read("airports.csv"))) not in first.source.replace(",", ""):
        return "the first cell does not say how many airports there are"
    sources = [[cell.source for cell in each] for each in (rest, done.before.cells)]
    return None if sources[0] == sources[1] else "other cells were changed"


def _japanese(done: Done) -> str | None:
    cars = read("cars.csv")
    count = int(((cars["Origin"] == "Japan") & (cars["Horsepower"] > 90)).sum())
    return value_is(done, "int(anzahl)", count) or says(done, count)


def _by_weather(done: Done) -> str | None:
    means = read("weather.csv").groupby("weather")["temp_max"].mean()
    return value_is(done, "moyennes", means) or says(done, means["sun"], 1)


def _petals(done: Done) -> str | None:
    medians = read("iris.csv").groupby("species")["petalLength"].median()
    return value_is(done, "medianas", medians) or says_words(done, medians.idxmax())


TASKS = [
    Task(
        "question-answered",
        "question",
        "What is the median acceleration in this notebook? It has been computed already: change "
        "nothing.",
        _there,
        ["cars.csv"],
        cells=["# Cars", _CARS, "cars['Acceleration'].median()"],
        ran=True,
    ),
    Task(
        "question-columns",
        "question",
        "Which columns of cars.csv does cell 2 use? Change nothing and run nothing.",
        _columns,
        ["cars.csv"],
        cells=[_CARS, "cars.pivot_table('Horsepower', 'Cylinders', aggfunc='mean')"],
    ),
    Task(
        "question-absent",
        "question",
        "What is the mean torque in cars.csv? If the file cannot answer that, answer with NOT "
        "AVAILABLE. Leave the notebook as it is.",
        _absent,
        ["cars.csv"],
        cells=["# Cars"],
    ),
    Task(
        "keep-cell",
        "restraint",
        "What is the smallest number of litres per 100 km? Keep it as best. Do not change cell 2.",
        _kept,
        ["cars.csv"],
        cells=[_CARS, _LITRES],
        ran=True,
    ),
    Task(
        "keep-file",
        "restraint",
        "Write the three heaviest cars of cars.csv to heavy.csv, the heaviest first. If there is a "
        "file of that name already, leave it alone and write heavy-2.csv instead.",
        _heaviest,
        ["cars.csv", "heavy.csv"],
    ),
    Task(
        "keep-others",
        "restraint",
        "Put one Markdown cell at the top: the heading “# Airports”, and below it a sentence that "
        "says how many rows airports.csv has. Change no other cell.",
        _heading,
        ["airports.csv"],
        cells=["import pandas as pd\n\nairports = pd.read_csv('airports.csv')\nlen(airports)"],
    ),
    Task(
        "german",
        "language",
        "Wie viele Autos in cars.csv kommen aus Japan (Origin) und haben mehr als 90 PS "
        "(Horsepower)? Lege die Zahl in der Variablen anzahl ab.",
        _japanese,
        ["cars.csv"],
    ),
    Task(
        "french",
        "language",
        "Calcule la moyenne de temp_max par type de temps (weather) dans weather.csv, dans un "
        "dictionnaire moyennes. Quelle est-elle pour « sun », avec une décimale ?",
        _by_weather,
        ["weather.csv"],
    ),
    Task(
        "spanish",
        "language",
        "¿Qué especie de iris.csv tiene la mayor mediana de petalLength? Guarda las medianas por "
        "especie en un diccionario medianas.",
        _petals,
        ["iris.csv"],
    ),
]
