"""Answers that say that something was done, and those that do not."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.agent.turn.claims import (
    announces_an_act,
    claims_a_run,
    claims_an_act,
)


@pytest.mark.parametrize(
    "answer",
    [
        "The chart is in the new cell below.",
        "I've added a histogram of the weights.",
        "Done. I have just updated cell 4 and it works.",
        "I ran all cells without an error.",
        "I've now successfully created the plot in a new code cell.",
        "Cell 3 has been fixed.",
        "Ich habe eine Zelle mit dem Diagramm eingefügt.",
        "J'ai ajouté une cellule.",
        "He añadido una celda con el gráfico.",
        "I've added a cell after cell 3 with the chart.",
        "I fixed the import, and the cell runs with no errors.",
        "Added a histogram of the weights below.",
        "Done. Fixed the typo in cell 2.",
        "- Updated the title\n- Ran all cells",
        "The histogram has been added to the notebook.",
        "Cells 3 and 4 have now been fixed.",
        "All cells ran without an error.",
        "The notebook now contains a chart of the weights.",
        "Das Diagramm steht in der neuen Zelle unten.",
        "Jetzt habe ich die letzte Zelle korrigiert.",
        "Die Zelle wurde gelöscht.",
        "Le graphique est dans la nouvelle cellule ci-dessous.",
        "La cellule a été ajoutée.",
        "El gráfico está en la nueva celda.",
        "Se ha añadido una celda.",
        "Corregí la celda 2.",
        "The table is in the new block below.",
        "All blocks ran without an error.",
        "I've added a paragraph after block 3 of the report.",
        "The document now contains a table.",
    ],
)
def test_an_act_is_claimed(answer: str) -> None:
    assert claims_an_act(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The mean weight is 2,977.6.",
        "You added a cell with a chart.",
        "I can add a cell with the chart. Shall I?",
        "I added the chart in the last turn; it is in cell 4.",
        "I already ran it: the result stands in cell 2.",
        "I have not changed anything.",
        "I haven't run it.",
        "If I ran it, it would take an hour.",
        "To add it, run this:\n\n```python\n# I added a column\ndf['a'] = 1\n```",
        "Cell 3 creates the data frame that was loaded in cell 1.",
        "Ich habe nichts geändert.",
        "Je n'ai rien modifié.",
        "No he cambiado nada.",
        "Run the cell again after the import.",
        "The new cell would show the chart.",
        "A column has not been added.",
        "The weights are added up in cell 4.",
        "The mean is added to the table by cell 4.",
        "Die Spalte wird in Zelle 2 ersetzt.",
        "Das kann ich in einer neuen Zelle zeigen.",
        "Ich habe bereits letztes Mal die Zelle gelöscht.",
        "La colonne est ajoutée par la cellule 2.",
        "Puedo añadir una celda.",
        "Block 3 creates the table. The new block would show it.",
        "",
    ],
)
def test_nothing_is_claimed(answer: str) -> None:
    assert not claims_an_act(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "To run the second cell, I will use the `runNotebookCells` function. I will pass the cell "
        "ID of the second cell to the function.",
        "I'll now add a cell with the chart.",
        "I will run the second cell.",
        "First I'm going to fix the import, then the rest.",
        "I will call the addNotebookCell tool:",
        "We will delete the cell that plots.",
        "I'll rename the column in all cells:\n\n```python\nprint('please')\n```",
        "Ich werde jetzt eine Zelle mit dem Diagramm hinzufügen.",
        "Jetzt werde ich die zweite Zelle ausführen.",
        "Je vais ajouter une cellule.",
        "Voy a ejecutar la segunda celda.",
    ],
)
def test_an_act_is_announced(answer: str) -> None:
    assert announces_an_act(answer)
    assert not claims_an_act(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I will explain the second cell.",
        "I'll run through the steps one by one.",
        "I will use the mean, not the median.",
        "I can add a cell with the chart.",
        "I will add the cell once the file exists.",
        "I won't change the notebook.",
        "I will not run the cell.",
        "Which column do you mean? Then I will add the cell.",
        "Tell me the column, and I'll add the cell.",
        "If you like, I will run the cell.",
        "The cell will add a column to the table.",
        "You will run the cell again.",
        "Running the cell will create a table.",
        "```\nI will add a cell.\n```",
        "Ich werde die Zelle nicht ausführen.",
        "Ich werde das erklären.",
        "Je vais expliquer la cellule.",
        "Voy a explicar la celda.",
        "",
    ],
)
def test_nothing_is_announced(answer: str) -> None:
    assert not announces_an_act(answer)


@pytest.mark.parametrize(
    "answer",
    [
        'The means are below. This was printed by the cell with id "by-origin" at index 6.',
        "I added a cell and ran it.",
        "I've now run the cell.",
        "Ran all cells.",
        "Done. Executed the cell.",
        "The cell was executed.",
        "The cell has been successfully run.",
        "Cell 7 printed the three means.",
        "The new cell ran without an error.",
        "Ich habe die Zelle ausgeführt.",
        "Die Zelle wurde ausgeführt.",
        "J'ai exécuté la cellule.",
        "La cellule a été exécutée.",
        "He ejecutado la celda.",
        "Se ha ejecutado la celda.",
    ],
)
def test_a_run_is_claimed(answer: str) -> None:
    assert claims_a_run(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I added a cell that prints the means.",
        "I added the cell; I have not run it.",
        "The cell prints the means. Run it to see them.",
        "I changed the cell, which you ran earlier.",
        "Cell 3 already ran.",
        "I added a run number to the table.",
        "The cell can be run by Shift+Enter.",
        "I added the cell. Select it and run it to see the chart.",
        "This line runs the model.",
        "Die Zelle wurde nicht ausgeführt.",
        "Je n'ai pas exécuté la cellule.",
        "No he ejecutado la celda.",
        "",
    ],
)
def test_no_run_is_claimed(answer: str) -> None:
    assert not claims_a_run(answer)
