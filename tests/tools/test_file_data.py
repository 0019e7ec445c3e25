"""Which texts hold data, by what is in them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import nbformat
import pytest

from jupyter_datalayer_agent.tools import data_rows
from jupyter_datalayer_agent.tools.data_rows import data_in, data_part, data_text
from jupyter_datalayer_agent.tools.redaction import private_parts, redact

REPOSITORY = Path(__file__).parents[2]
PEOPLE = [{"name": name, "age": age} for name, age in (("Ann", 31), ("Bob", 33), ("Cy", 35))]
NOTEBOOK = nbformat.v4.new_notebook(
    cells=[
        nbformat.v4.new_code_cell(
            "1", outputs=[nbformat.v4.new_output("stream", name="stdout", text="tulip")]
        )
    ]
)

ROWS = {
    "csv": "name,age\nAnn,31\nBob,33\n",
    "csv of words": "name;town\nAnn;Rome\nBob;Oslo\nCy;Bern\n",
    "csv with comments": "# from the lab\n# 2026\nx,y\n1,2\n3,4\n5,6\n",
    "uci": "5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n4.7,3.2,1.3,setosa\n",
    "white space": "18.0  8  307.0  130.0\n15.0  8  350.0  165.0\n18.0  8  318.0  150.0\n",
    "tabs": "gene\tcount\nBRCA1\t12\nTP53\t9\n",
    "arff": "@relation a\n@attribute x numeric\n@data\n1,2\n3,4\n5,6\n7,8\n",
    "pipes": "| name | age |\n| --- | --- |\n| Ann | 31 |\n| Bob | 33 |\n",
    "json lines": "\n".join(map(json.dumps, PEOPLE)),
    "json": json.dumps(PEOPLE),
    "json indented": json.dumps({"people": PEOPLE}, indent=2),
    "json columns": json.dumps({"name": ["Ann", "Bob", "Cy"], "age": [31, 33, 35]}),
    "json cut": json.dumps(PEOPLE * 100_000)[:-2],
    "geojson": json.dumps(
        {
            "type": "FeatureCollection",
            "features": [
                {"type": "Feature", "geometry": {"type": "Point", "coordinates": [n, n]}}
                for n in range(5)
            ],
        }
    ),
    "yaml": "".join(f"- name: {each['name']}\n  age: {each['age']}\n" for each in PEOPLE),
    "yaml below a name": "people:\n"
    + "".join(f"  - name: {each['name']}\n    age: {each['age']}\n" for each in PEOPLE),
    "sql": "CREATE TABLE p (n text, a int);\n"
    + "".join(f"INSERT INTO p VALUES ('{each['name']}', {each['age']});\n" for each in PEOPLE),
    "sql in one": "insert into p (n, a) values\n('Ann', 31),\n('Bob', 33),\n('Cy', 35);\n",
    "pg_dump": "COPY public.p (n, a) FROM stdin;\nAnn\t31\nBob\t33\n\\.\n",
    "html": "<html><body><table><tr><th>name</th></tr>"
    + "".join(f"<tr><td>{each['name']}</td><td>{each['age']}</td></tr>" for each in PEOPLE)
    + "</table></body></html>",
    "tuples": "[\n ('Ann', 31),\n ('Bob', 33),\n ('Cy', 35),\n]\n",
    "fasta": ">seq1 of a patient\nACGTACGTTTGA\nACGTAAAC\n>seq2\nTTGACCA\n",
    "fastq": "@r1\nACGTACGT\n+\nIIIIHHHH\n@r2\nACGTAAAA\n+\nIIIIHHII\n",
    "rows below a text": "Measured in the lab, in May.\nSee the protocol, part two.\n\n"
    + "".join(f"{n},{n * 2},{n * 3}\n" for n in range(40)),
    "a notebook": json.dumps(NOTEBOOK, indent=1),
    "the beginning of a notebook": json.dumps(NOTEBOOK, indent=1)[:-60],
}

CODE_AND_PROSE = {
    "empty": "",
    "blank": "\n \n\t\n",
    "a word": "hello",
    "prose": "It rains, often, in May.\nSo we left, and came back.\nThat, too, was a mistake.\n",
    "python": "import os\n\n\ndef add(a, b):\n    return a + b\n\n\nprint(add(1, 2), add(3, 4))\n",
    "assignments": "a = 1\nb = 2\nc = 3\nd = 4\n",
    "calls": "plot(x, y)\nplot(x, z)\nplot(y, z)\nshow()\n",
    "markdown with a small table": "# Settings\n\nWhat there is.\n\n| name | default |\n"
    "| --- | --- |\n| a | 1 |\n| b | 2 |\n\nMore about it here.\nAnd here.\nAnd here, too.\n",
    "requirements": "numpy>=1.26\npandas==2.2.0\nscikit-learn\nmatplotlib>=3.8,<4\n",
    "log": "2026-11-28 07:00:01 INFO started the server on port 8888\n"
    "2026-11-28 07:00:02 WARNING no kernel\n2026-11-28 07:00:05 INFO opened a notebook by Ann\n",
    "ini": "[server]\nport = 8888\nhost = localhost\n\n[log]\nlevel = info\n",
    "css": ".a {\n  color: red;\n  margin: 0;\n  padding: 1px;\n}\n.b {\n  margin: 2px;\n}\n",
    "package.json": json.dumps({"name": "x", "files": ["a", "b", "c"], "dependencies": {"a": "1"}}),
    "workflow": "on: push\njobs:\n  test:\n    steps:\n      - uses: actions/checkout\n"
    "      - name: Install\n        run: pip install .\n      - run: pytest\n",
    "sql without rows": "CREATE TABLE p (n text, a int);\nSELECT n, a FROM p WHERE a > 3;\n",
    "html without a table": "<html><body><p>Hello, you.</p><p>Bye.</p></body></html>",
    "a mail that quotes": "> How are you?\n> And the others?\nFine, thanks.\n",
    "a notebook without outputs": json.dumps(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("a")])
    ),
}


@pytest.mark.parametrize("kind", ROWS)
def test_data_is_recognised(kind: str) -> None:
    assert "row_data" in data_in(ROWS[kind])


@pytest.mark.parametrize("kind", CODE_AND_PROSE)
def test_code_prose_and_settings_are_no_data(kind: str) -> None:
    assert not data_in(CODE_AND_PROSE[kind])


@pytest.mark.parametrize("name", ["a.data", "a.csv.bak", "a.md", "a.sql", "a.py", "a.bak", "a"])
def test_data_is_withheld_under_every_name(name: str) -> None:
    for content in ROWS.values():
        for shown in (None, content.splitlines()[-1]):
            marked = data_text(name, content, shown)
            assert "withheld" in redact(marked, {"row_data": "by the setting"})
    for content in CODE_AND_PROSE.values():
        assert private_parts(data_text("a.md", content)) == []


def test_a_notebook_holds_outputs() -> None:
    assert data_in(ROWS["a notebook"]) == {"outputs", "row_data"}
    assert data_in(ROWS["csv"]) == {"row_data"}


def test_rows_are_looked_for_once_and_not_where_the_name_says_that_there_are_some() -> None:
    content = "".join(f"{n},{n * 2}\n" for n in range(50, 90))
    before = data_rows._has_rows.cache_info()
    for _ in range(3):
        assert data_part("a.csv", content) is not None
    assert data_rows._has_rows.cache_info() == before
    for name in ("a.data", "a.py", "a.data"):
        assert data_part(name, content) is not None
    after = data_rows._has_rows.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)


def test_a_notebook_under_the_name_of_data_holds_outputs() -> None:
    part = data_part("a.csv", ROWS["a notebook"])
    assert part is not None
    assert part.kinds == {"outputs", "row_data"}


def test_the_sources_and_documents_of_this_project_are_sent() -> None:
    """Of its sources and documents, not one in two hundred is taken for data."""
    files = [
        path
        for folder, kinds in (
            ("jupyter_datalayer_agent", (".py", ".md")), ("tests", (".py",)), ("docs", (".md",)),
            ("labextension/src", (".ts", ".tsx")), ("labextension/style", (".css",)),
        )
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in kinds and "labextension/static" not in str(path)
    ]  # fmt: skip
    wrong = [str(path) for path in files if data_in(path.read_text("utf-8"))]
    assert len(files) > 1_500
    assert len(wrong) < len(files) / 200, wrong


@pytest.mark.parametrize(
    "piece",
    ['"', '""a', "a,", 'a "', "[", "{", '{"a":', "[[],", "- a: 1\n", "a: b\n", "\n", " ", "\t",
     "<td", "<table><tr><td", ">A\n", "insert into t values (1),", "(1,2)\n", "1 ", "1,2\n",
     "\\\""],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000]
    took = []
    for _ in range(5):
        began = time.thread_time()
        data_in(text)
        took.append(time.thread_time() - began)
    assert min(took) < 0.1
