"""Scikit-learn: a first model, from the table to a prediction, on the penguins."""

from __future__ import annotations

from ..lesson import LessonContent, TutorialContent

SCIKIT_LEARN_FIRST_MODEL = TutorialContent(
    id="scikit-learn-first-model",
    package="scikit_learn_first_model",
    title="A first model with scikit-learn",
    description="Tell the species of a penguin from its measurements, and know how well it works.",
    data=("penguins.csv",),
    lessons=(
        LessonContent(
            title="Load and look",
            explanation=(
                "A model learns to tell an answer `y` (here the species) from features `X` (here "
                "four measurements). `X` is a table with a row for each penguin, `y` the column of "
                "answers in the same order. The answer must not be among the features.\n\n"
                "Most models take no missing values. `table.dropna(subset=[...])` drops the rows "
                "in "
                "which one of these columns is missing. Do it before `X` and `y` are taken, so "
                "that "
                "both keep the same rows."
            ),
            starter_code=(
                "import pandas as pd\n\n"
                'penguins = pd.read_csv("penguins.csv")\n'
                "features = [\n"
                '    "bill_length_mm",\n'
                '    "bill_depth_mm",\n'
                '    "flipper_length_mm",\n'
                '    "body_mass_g",\n'
                "]\n\n"
                "X = ...\ny = ...\n"
            ),
            task=(
                "Drop the penguins without measurements. Put the four features into `X` and the "
                "column `species` into `y`."
            ),
            expected_output="`X`: 342 rows, 4 columns, nothing missing. `y`: 342 species.",
            hint="`penguins = penguins.dropna(subset=features)`, then `X = penguins[features]`.",
            check="looking_at_the_data",
        ),
        LessonContent(
            title="Split",
            explanation=(
                "A model is judged on penguins that it has not seen. `train_test_split` sets some "
                "aside and gives four parts, in this order:\n\n"
                "```python\n"
                "X_train, X_test, y_train, y_test = train_test_split(\n"
                "    X, y, test_size=0.5, stratify=y, random_state=1\n"
                ")\n"
                "```\n\n"
                "`test_size` is the share set aside, `stratify=y` keeps the shares of the species "
                "the same in both parts, and `random_state` makes the split the same each time."
            ),
            starter_code=(
                "from sklearn.model_selection import train_test_split\n\n"
                "X_train, X_test, y_train, y_test = ..., ..., ..., ...\n"
            ),
            task=(
                "Split `X` and `y`: 20% for testing, stratified by species, with a fixed "
                "`random_state`."
            ),
            expected_output="273 rows for training, 69 for testing.",
            hint="`train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)`",
            check="splitting",
            builds_on=("X", "y"),
        ),
        LessonContent(
            title="A baseline and a model",
            explanation=(
                "Is 80% good? That depends on what is reached without thinking. A **baseline** "
                "answers without looking at the features: "
                '`DummyClassifier(strategy="most_frequent")` always says the most frequent '
                "species.\n\n"
                "A **model** looks. `LogisticRegression` wants features of similar size, so "
                "`make_pipeline(StandardScaler(), LogisticRegression())` scales them first. Both "
                "learn by `.fit(features, answers)`, from the training part only."
            ),
            starter_code=(
                "from sklearn.dummy import DummyClassifier\n"
                "from sklearn.linear_model import LogisticRegression\n"
                "from sklearn.pipeline import make_pipeline\n"
                "from sklearn.preprocessing import StandardScaler\n\n"
                "baseline = ...\nmodel = ...\n"
            ),
            task=(
                "Fit a `baseline` that always answers the most frequent species, and a `model` "
                "that "
                "uses the features, both on the training part."
            ),
            expected_output="Two fitted classifiers; the baseline says Adelie to everything.",
            hint=(
                '`baseline = DummyClassifier(strategy="most_frequent").fit(X_train, y_train)`, '
                "and the model likewise."
            ),
            check="fitting",
            builds_on=("X_train", "X_test", "y_train", "y_test"),
        ),
        LessonContent(
            title="Evaluate",
            explanation=(
                "`model.score(features, answers)` is the **accuracy**: the share of right answers. "
                "On the training part it flatters the model; what counts is the test part.\n\n"
                "The **confusion matrix** says which species are taken for which: a row for each "
                "true species, a column for each answer. "
                "`confusion_matrix(y_true, y_predicted)` takes the truth first; the answers come "
                "from `model.predict(features)`."
            ),
            starter_code=(
                "from sklearn.metrics import confusion_matrix\n\n"
                "baseline_accuracy = ...\naccuracy = ...\nconfusion = ...\n"
            ),
            task=(
                "On the test part: the accuracy of the baseline in `baseline_accuracy`, that of "
                "the "
                "model in `accuracy`, and the model's confusion matrix in `confusion`."
            ),
            expected_output=(
                "About 0.43 for the baseline, above 0.95 for the model, and a matrix of 3 × 3 with "
                "nearly all on its diagonal."
            ),
            hint=(
                "`model.score(X_test, y_test)`; `confusion_matrix(y_test, model.predict(X_test))`."
            ),
            check="evaluating",
            builds_on=("X_train", "X_test", "y_train", "y_test", "baseline", "model"),
        ),
        LessonContent(
            title="Predict",
            explanation=(
                "A fitted model answers for penguins that nobody has named. `model.predict(table)` "
                "takes a table with the same columns as `X` and gives an answer for each row.\n\n"
                "`model.predict_proba(table)` gives the probability of each species, one row a "
                "penguin, in the order of `model.classes_`. The answer is the one with the largest "
                "probability."
            ),
            starter_code=(
                "import pandas as pd\n\n"
                "new_penguin = pd.DataFrame(\n"
                "    {\n"
                '        "bill_length_mm": [47.0],\n'
                '        "bill_depth_mm": [15.0],\n'
                '        "flipper_length_mm": [215.0],\n'
                '        "body_mass_g": [5000.0],\n'
                "    }\n"
                ")\n\n"
                "predicted = ...\nprobability = ...\n"
            ),
            task=(
                "Let the model tell the species of `new_penguin` (`predicted`), and put the "
                "probability that it gives to this answer into `probability`."
            ),
            expected_output="Gentoo, with a probability close to 1.",
            hint="`model.predict(new_penguin)[0]`; `model.predict_proba(new_penguin).max()`.",
            check="predicting",
            builds_on=("X_train", "X_test", "y_train", "y_test", "baseline", "model"),
        ),
    ),
)
