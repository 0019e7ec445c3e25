"""Messages that ask for a workflow, are close to one, ask for the quality report, or nothing."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.workflows.templates.catalogue import builtin_catalogue
from jupyter_datalayer_agent.workflows.templates.matching import about_quality, match

SHORT = {
    "data-analysis-notebook": "notebook",
    "exploratory-data-analysis": "eda",
    "machine-learning-pipeline": "ml",
    "data-visualization-report": "report",
}

MESSAGES = [
    # Asked for explicitly.
    ("create a complete data analysis notebook", "asked notebook"),
    ("Create a data analysis notebook", "asked notebook"),
    ("a data analysis notebook, out.ipynb, of cars.csv", "asked notebook"),
    ("please run the exploratory data analysis workflow on cars.csv", "asked eda"),
    ("exploratory data analysis of cars.csv", "asked eda"),
    ("Exploratory-data-analysis", "asked eda"),
    ("Can you build a machine learning pipeline for cars.csv?", "asked ml"),
    ("write a data visualisation report from sales.parquet", "asked report"),
    ("Erstelle bitte ein data analysis notebook", "asked notebook"),
    # Close.
    ("Create a notebook", "close notebook"),
    ("explore this data", "close eda"),
    ("explore cars.csv", "close eda"),
    ("analyze cars.csv", "close eda"),
    ("do an EDA of sales.csv", "close eda"),
    ("train a model", "close ml"),
    ("train a model to predict Horsepower from cars.csv, into predicted.ipynb", "close ml"),
    ("Predict the price of a house", "close ml"),
    ("ML please", "close ml"),
    ("make a report with plots", "close report"),
    ("visualising sales", "close report"),
    ("plot cars.csv", "close report"),
    ("Erkunde die Datei cars.csv", "close eda"),
    ("entraîne un modèle sur cars.csv", "close ml"),
    ("visualiza los datos de ventas.csv", "close report"),
    # The quality report.
    ("analyze the quality of this notebook", "quality"),
    ("is this notebook clean?", "quality"),
    ("review this notebook", "quality"),
    ("How good is my notebook?", "quality"),
    ("improve the quality of the notebook", "quality"),
    ("Find mistakes and weak points in this notebook", "quality"),
    ("Wie ist die Qualität dieses Notebooks?", "quality"),
    ("est-ce que ce notebook est propre ?", "quality"),
    ("¿Cuál es la calidad de este cuaderno?", "quality"),
    # Neither: the existing one is meant.
    ("", "nothing"),
    ("   \n", "nothing"),
    ("delete the last cell of this notebook", "nothing"),
    ("fix the notebook", "nothing"),
    ("explain the model in cell 2", "nothing"),
    ("rename the data analysis notebook", "nothing"),
    ("delete the data analysis notebook", "nothing"),
    ("explain this notebook", "nothing"),
    ("make the plot bigger", "nothing"),
    ("why does the exploratory data analysis fail?", "nothing"),
    ("Don't run the exploratory data analysis workflow", "nothing"),
    ("what does the machine learning pipeline do?", "nothing"),
    ("lösche die letzte Zelle dieses Notebooks", "nothing"),
    ("explique le modèle de la cellule 2", "nothing"),
    ("borra la última celda de este cuaderno", "nothing"),
    ("write a poem", "nothing"),
    ("sing a song", "nothing"),
    ("continue", "nothing"),
    ("save the notebook", "nothing"),
    ("the model predicts nonsense", "nothing"),
    ("create a graph of sin(x)", "nothing"),
]

WRITTEN_LATER = [
    # Written when the first list was met: messages that the vocabulary was not made for.
    ("make me a machine learning pipeline", "asked ml"),
    ("I would like an exploratory data analysis of penguins.csv, please", "asked eda"),
    ("start the data visualization report workflow", "asked report"),
    ("Machine Learning Pipeline with cars.csv to predict Horsepower", "asked ml"),
    ("could you do the exploratory data analysis of cars.csv", "asked eda"),
    ("lance le workflow exploratory-data-analysis sur cars.csv", "asked eda"),
    ("crea un data analysis notebook con cars.csv", "asked notebook"),
    ("run the data analysis notebook", "nothing"),
    ("a report about sales.csv", "close report"),
    ("Are the correlations in cars.csv strong?", "nothing"),
    ("look at cars.csv", "close eda"),
    ("build a classifier for iris.csv", "close ml"),
    ("I need a regression on houses.parquet", "close ml"),
    ("explore the data in this notebook", "close eda"),
    ("get to know the dataset sales.csv", "close eda"),
    ("draw charts of weather.csv", "close report"),
    ("make a dashboard", "close report"),
    ("new notebook for data analysis", "close notebook"),
    ("forecast sales from sales.csv", "close ml"),
    ("Visualisiere umsatz.csv", "close report"),
    ("trainiere ein Modell mit cars.csv", "close ml"),
    ("fais une analyse exploratoire de ventes.csv", "close eda"),
    ("predecir el precio con casas.csv", "close ml"),
    ("haz un informe de ventas.csv", "close report"),
    ("check the quality of my notebook", "quality"),
    ("give me the quality report", "quality"),
    ("Is my code clean?", "quality"),
    ("audit the notebook", "quality"),
    ("How clean is this notebook?", "quality"),
    ("does this notebook follow best practices?", "quality"),
    ("rate my notebook", "quality"),
    ("Ist dieses Notebook sauber?", "quality"),
    ("quelle est la qualité de ce notebook ?", "quality"),
    ("analiza la calidad de este notebook", "quality"),
    ("what is wrong with this notebook?", "quality"),
    ("predict the quality of wine from wine.csv", "close ml"),
    ("check the data quality of cars.csv", "close eda"),
    ("clean the data", "nothing"),
    ("clean up this notebook", "nothing"),
    ("add a plot of the residuals", "nothing"),
    ("change the chart's colours", "nothing"),
    ("the training loop is too slow", "nothing"),
    ("refactor the machine learning pipeline", "nothing"),
    ("open the exploratory data analysis", "nothing"),
    ("run all cells", "nothing"),
    ("run the notebook", "nothing"),
    ("explain the plot in cell 7", "nothing"),
    ("what does this notebook do?", "nothing"),
    ("summarize the report", "nothing"),
    ("undo the machine learning pipeline", "nothing"),
    ("I do not want a data analysis notebook", "nothing"),
    ("never create a data visualization report", "nothing"),
    ("move cell 3 to the end of the notebook", "nothing"),
    ("rename this notebook to analysis.ipynb", "nothing"),
    ("save this as report.ipynb", "nothing"),
    ("export the notebook to a report", "nothing"),
    ("erkläre dieses Notebook", "nothing"),
    ("repariere das Notebook", "nothing"),
    ("corrige ce notebook", "nothing"),
    ("supprime le graphique", "nothing"),
    ("arregla el modelo", "nothing"),
    ("¿qué hace este modelo?", "nothing"),
    ("hello", "nothing"),
    ("thanks!", "nothing"),
    ("???", "nothing"),
    ("\U0001f600", "nothing"),
    ("install pandas", "nothing"),
    ("which model are you?", "nothing"),
    ("use another model", "nothing"),
    ("fit the text on one line", "nothing"),
    ("set up a machine learning pipeline using iris.csv", "asked ml"),
    ("Please give me an exploratory data analysis", "asked eda"),
    ("starte den Workflow data-visualization-report für umsatz.csv", "asked report"),
    ("I want to see outliers in cars.csv", "close eda"),
    ("make a plot of prices.csv by year", "close report"),
    ("start a new analysis notebook", "close notebook"),
    ("cluster the rows of cars.csv", "nothing"),
    ("update the exploratory data analysis with new data", "nothing"),
    ("rerun the machine learning pipeline", "nothing"),
    ("the exploratory data analysis is wrong", "nothing"),
    ("is the code in this notebook well structured?", "quality"),
    ("review the code", "quality"),
    ("any best practices for notebooks?", "quality"),
    ("where is the data visualization report?", "nothing"),
    ("stop the exploratory data analysis", "nothing"),
    ("supprime le data analysis notebook", "nothing"),
    ("cambia el nombre de este cuaderno", "nothing"),
    ("warum ist das Modell so schlecht?", "nothing"),
    ("improve the model", "nothing"),
    ("speed up this notebook", "nothing"),
    ("the report shows the wrong figures", "nothing"),
    ("add an exploratory data analysis to this notebook", "nothing"),
    ("compare the models", "nothing"),
    ("write tests for the notebook", "nothing"),
    ("write documentation for this notebook", "nothing"),
    ("create a function that fits a line", "nothing"),
]


def outcome(message: str) -> str:
    found = match(message, builtin_catalogue())
    names = "+".join(SHORT[template.id] for template in found.templates)
    return f"{found.kind} {names}".strip()


@pytest.mark.parametrize(("message", "expected"), [*MESSAGES, *WRITTEN_LATER])
def test_what_a_message_asks_for(message: str, expected: str) -> None:
    assert outcome(message) == expected


@pytest.mark.parametrize(
    "task",
    [
        "What about the quality of this notebook?",
        "check cell 3",
        "Checking that all cells run",
        "improve the plots",
        "review it",
        "Audit the code.",
        "analyse the weights",
        "clean up the notebook",
        "make this code better",
        "lint it",
        "Refactor the second half",
        "Überprüfe das Notebook",
        "verbessere die Diagramme",
        "vérifie le code",
        "améliore ce cahier",
        "mejora el cuaderno",
        "Follow the notebook's best practices",
    ],
)
def test_a_task_is_about_quality(task: str) -> None:
    assert about_quality(task)


@pytest.mark.parametrize(
    "task",
    [
        "What is 2 + 2?",
        "plot the weights",
        "add a title",
        "load cars.csv",
        "clean the data",
        "zeig es",
    ],
)
def test_a_task_is_not_about_quality(task: str) -> None:
    assert not about_quality(task)
