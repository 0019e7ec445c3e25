"""The lessons build on one another; each mistake of a beginner with models is named."""

# ruff: noqa: E501 - a table of answers, a line each

from __future__ import annotations

from pathlib import Path

import pytest

from .classroom import Try, classroom, untouched

LOAD = (
    'import pandas as pd\n\npenguins = pd.read_csv("penguins.csv")\n'
    'features = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]\n'
)
IMPORT_SPLIT = "from sklearn.model_selection import train_test_split\n"
NAMES = "X_train, X_test, y_train, y_test"
IMPORTS = (
    "from sklearn.dummy import DummyClassifier\n"
    "from sklearn.linear_model import LogisticRegression\n"
    "from sklearn.pipeline import make_pipeline\n"
    "from sklearn.preprocessing import StandardScaler\n"
)
PIPE = "make_pipeline(StandardScaler(), LogisticRegression())"
PENGUIN = (
    'import pandas as pd\nnew_penguin = pd.DataFrame({"bill_length_mm": [47.0], '
    '"bill_depth_mm": [15.0], "flipper_length_mm": [215.0], "body_mass_g": [5000.0]})\n'
)


def looking(
    first: str = "penguins = penguins.dropna(subset=features)",
    X: str = "penguins[features]",
    y: str = 'penguins["species"]',
) -> str:
    return f"{LOAD}{first}\nX = {X}\ny = {y}\n"


def splitting(
    arguments: str = "test_size=0.2, stratify=y, random_state=0", names: str = NAMES
) -> str:
    return f"{IMPORT_SPLIT}{names} = train_test_split(X, y, {arguments})"


def fitting(
    baseline: str = 'DummyClassifier(strategy="most_frequent").fit(X_train, y_train)',
    model: str = f"{PIPE}.fit(X_train, y_train)",
) -> str:
    return f"{IMPORTS}baseline = {baseline}\nmodel = {model}\n"


def evaluating(
    baseline: str = "baseline.score(X_test, y_test)",
    accuracy: str = "model.score(X_test, y_test)",
    confusion: str = "confusion_matrix(y_test, model.predict(X_test))",
) -> str:
    return (
        "from sklearn.metrics import accuracy_score, confusion_matrix\n"
        f"baseline_accuracy = {baseline}\naccuracy = {accuracy}\nconfusion = {confusion}\n"
    )


def predicting(
    predicted: str = "model.predict(new_penguin)[0]",
    probability: str = "model.predict_proba(new_penguin).max()",
) -> str:
    return f"{PENGUIN}predicted = {predicted}\nprobability = {probability}\n"


SOLUTIONS = [
    Try(1, looking()),
    Try(2, splitting()),
    Try(3, fitting()),
    Try(4, evaluating()),
    Try(5, predicting()),
]
LESSON_1 = [
    Try(1, looking("penguins = penguins[penguins[features].notna().all(axis=1)]", y="penguins.species.to_numpy()")),
    Try(1, looking("", "penguins[features].dropna()", 'penguins.loc[X.index, "species"]')),
    Try(1, looking(""), "Values are missing in 2 rows"),
    Try(1, looking("penguins.dropna(subset=features)"), "which you have to keep"),
    Try(1, looking("penguins = penguins.dropna()"), "whose sex only is not known"),
    Try(1, looking(X="penguins"), "holds the column `species`"),
    Try(1, looking(X="penguins[features + ['island']]"), "`island`, which is not among"),
    Try(1, looking(X="penguins[features[:3]]"), "lacks the feature `body_mass_g`"),
    Try(1, looking(y='penguins[["species"]]'), "`y` is a table"),
    Try(1, looking("", "penguins[features].dropna()"), "`X` has 342 rows and `y` 344"),
    Try(1, looking(y="penguins.island"), "which are no species"),
    Try(1, looking()),
]  # fmt: skip
LESSON_2 = [
    Try(2, splitting("test_size=0.2, stratify=y, random_state=42")),
    Try(2, splitting("train_size=0.8, stratify=penguins.species, random_state=1")),
    Try(2, splitting("stratify=y, random_state=0"), "25%"),
    Try(2, splitting("test_size=20, random_state=0"), "are 20 rows"),
    Try(2, splitting("test_size=0.8, random_state=0"), "exchanged"),
    Try(2, splitting("test_size=0.2, random_state=1"), "`stratify=y` keeps"),
    Try(2, splitting("test_size=0.2, stratify=y"), "another one each time"),
    Try(2, splitting(names="X_train, y_train, X_test, y_test"), "come in another order"),
    Try(2, "X_train, X_test, y_train, y_test = X[:273], X[273:], y[:273], y[273:]", "at random"),
    Try(2, splitting()),
]  # fmt: skip
LESSON_3 = [
    Try(3, fitting("DummyClassifier().fit(X_train, y_train)", "LogisticRegression(max_iter=5000).fit(X_train.values, y_train)")),
    Try(3, IMPORTS + 'baseline = DummyClassifier(strategy="prior")\nbaseline.fit(X_train, y_train)\nfrom sklearn.tree import DecisionTreeClassifier\nmodel = DecisionTreeClassifier(random_state=0)\nmodel.fit(X=X_train, y=y_train)'),
    Try(3, fitting('DummyClassifier(strategy="most_frequent")'), "`baseline` is not fitted"),
    Try(3, fitting(model="LogisticRegression"), "the class LogisticRegression itself"),
    Try(3, fitting(model=f"{PIPE}.fit(X, y)"), "it has seen the test part"),
    Try(3, fitting(model=f"{PIPE}.fit(X_train, y_test)"), "different numbers of rows"),
    Try(3, fitting('DummyClassifier(strategy="uniform", random_state=0).fit(X_train, y_train)'), "different answers"),
    Try(3, fitting(f"{PIPE}.fit(X_train, y_train)"), "`baseline` looks at the features"),
    Try(3, fitting(model=f"{PIPE}.fit(X_train, y_train).predict(X_test)"), "Assign what .fit()"),
    Try(3, fitting(model="DummyClassifier().fit(X_train, y_train)"), "the same answer"),
    Try(3, fitting()),
]  # fmt: skip
LESSON_4 = [
    Try(4, evaluating("(baseline.predict(X_test) == y_test).mean()", "accuracy_score(y_test, model.predict(X_test))", "pd.crosstab(y_test, model.predict(X_test))")),
    Try(4, evaluating(accuracy="round(model.score(X_test, y_test), 3)")),
    Try(4, evaluating(accuracy="model.score(X_train, y_train)"), "that of the training part"),
    Try(4, evaluating("model.score(X_test, y_test)", "baseline.score(X_test, y_test)"), "are exchanged"),
    Try(4, evaluating(accuracy="100 * model.score(X_test, y_test)"), "between 0 and 1"),
    Try(4, evaluating(accuracy="model.score"), "Add () after it"),
    Try(4, evaluating(confusion="confusion_matrix(model.predict(X_test), y_test)"), "the truth comes first"),
    Try(4, evaluating(confusion="confusion_matrix(y_train, model.predict(X_train))"), "counts 273 penguins"),
    Try(4, evaluating(confusion="confusion_matrix(y_test, baseline.predict(X_test))"), "of the baseline"),
]  # fmt: skip
LESSON_5 = [
    Try(5, predicting("model.predict(new_penguin)", "round(model.predict_proba(new_penguin).max(), 2)")),
    Try(5, predicting("model.classes_[model.predict_proba(new_penguin).argmax()]", "model.predict_proba(new_penguin)[0, 2]")),
    Try(5, predicting("baseline.predict(new_penguin)"), "what the baseline says"),
    Try(5, predicting('model.predict(new_penguin["bill_length_mm"])'), "a table, also for one"),
    Try(5, predicting(probability="model.predict_proba(new_penguin)"), "Take the one of the answer"),
    Try(5, predicting(probability="model.predict_proba(new_penguin)[0, 0]"), "of another species"),
    Try(5, predicting(probability="100 * model.predict_proba(new_penguin).max()"), "in percent"),
]  # fmt: skip

OTHER_WAYS = [*LESSON_1, *LESSON_2, *LESSON_3]
MISTAKES = [*LESSON_4, *LESSON_5]


@pytest.mark.timeout(240)
async def test_right_answers_pass_and_mistakes_are_named(tmp_path: Path) -> None:
    async with classroom(tmp_path, "scikit-learn-first-model") as room:
        verdicts = await untouched(room)
        says = {1: "`X` is still", 2: "`X` is not there yet", 3: "is not there yet", 4: "not there yet",
                5: "not there yet"}  # fmt: skip
        for number, said in says.items():
            assert not verdicts[number].passed
            assert "still holds the starter code" in verdicts[number].feedback
            assert said in verdicts[number].feedback
        assert await room.try_all([*SOLUTIONS, *OTHER_WAYS, *MISTAKES]) == []
        assert await room.changed_by_checks(SOLUTIONS) == []
