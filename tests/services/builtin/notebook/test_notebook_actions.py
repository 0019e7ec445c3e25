"""``/notebook`` over HTTP: what its actions do to real files."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.services.builtin.notebook import export
from tests.services.builtin.running import refused, run
from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.lexical import assert_lexical

v4 = nbformat.v4
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(autouse=True)
def notebook(server: RunningServer) -> Path:
    for each in server.root.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()
    result = v4.new_output("execute_result", {"text/plain": "2"}, execution_count=3)
    picture = v4.new_output("display_data", {"image/png": PICTURE})
    cells = [
        v4.new_markdown_cell("# One\n\n```\n# no heading\n```", id="one"),
        v4.new_code_cell("1 + 1", id="sum", outputs=[result], execution_count=3),
        v4.new_code_cell("  \n", id="empty"),
        v4.new_markdown_cell("## Two", id="two"),
        v4.new_code_cell("show()", id="show", outputs=[picture]),
    ]
    path = server.root / "a.ipynb"
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
    return path


def read(path: Path) -> Any:
    found = nbformat.read(path, as_version=4)
    nbformat.validate(found)
    return found


def files(server: RunningServer) -> set[str]:
    return {each.name for each in server.root.iterdir() if not each.name.startswith(".ipynb")}


# -- export


@pytest.mark.parametrize("name", [each for each in export.LABELS if each in export.formats()])
def test_every_format_that_is_offered_is_written(server: RunningServer, name: str) -> None:
    reply = run(server, "notebook/export", notebook="a.ipynb", format=name, target="out")
    (written,) = [each for each in server.root.iterdir() if each.name.startswith("out.")]
    assert written.stat().st_size > 0
    assert f"`{written.name}`" in reply["reply"]


def test_a_format_that_needs_a_program_that_is_absent_is_not_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert export.formats().keys() & {"pdf", "latex", "rst", "asciidoc"} == set()
    assert export.formats().keys() >= {"html", "markdown", "script", "slides"}
    assert export.lacking().keys() >= {"latex", "rst", "asciidoc"}


def test_a_format_that_is_not_installed_is_refused_with_what_to_install(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # Without any program, and without Playwright, whatever this machine has.
    hidden = tmp_path_factory.mktemp("hidden")
    (hidden / "sitecustomize.py").write_text("import sys; sys.modules['playwright'] = None")
    environment = {"PATH": "/nowhere", "PYTHONPATH": f"{hidden}:{PYTHONPATH}"}
    with RunningServer(
        tmp_path_factory.mktemp("bare"), environment=environment, own_interpreter=True
    ) as server:
        nbformat.write(v4.new_notebook(), server.root / "a.ipynb")
        for name, needed in {
            "PDF": "`playwright install chromium`",
            "LaTeX": "`apt install pandoc`",
        }.items():
            body = {"message": f"export a.ipynb as {name}", "activeNotebook": "a.ipynb"}
            found = server.post("services/notebook/actions/export/dry-run", body)
            (format,) = [each for each in found["parameters"] if each["name"] == "format"]
            assert found["complete"] is False
            assert format["problem"].startswith(f"{name} needs ")
            assert needed in format["problem"]
        why = refused(server, "notebook/export", notebook="a.ipynb", format="webpdf")
        assert "nbconvert[webpdf]" in why
        assert files(server) == {"a.ipynb"}


def test_a_named_export_refers_to_its_pictures(server: RunningServer) -> None:
    run(server, "notebook/export", notebook="a.ipynb", format="markdown", target="the text.md")
    (picture,) = (server.root / "the text_files").iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = (server.root / "the text.md").read_text()
    assert f"the text_files/{picture.name}" in text.replace("%20", " ")


def test_nothing_is_overwritten(server: RunningServer) -> None:
    (server.root / "a.html").write_text("mine")
    why = refused(server, "notebook/export", notebook="a.ipynb", format="html")
    assert why == "a.html already exists. Choose another name, or delete the file first."
    assert (server.root / "a.html").read_text() == "mine"
    assert files(server) == {"a.ipynb", "a.html"}


@pytest.mark.parametrize("format", ["html", "script", "markdown", "slides"])
def test_templates_in_the_servers_folder_are_not_used(server: RunningServer, format: str) -> None:
    """They are code, and a server is often started in a folder that somebody else filled."""
    attack = "{{ cycler.__init__.__globals__.os.system('touch attacked') }}"
    for name in ("lab", "script", "python", "markdown", "reveal"):
        folder = server.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "conf.json").write_text('{"base_template": "base"}')
        for file in ("index.html.j2", "index.py.j2", "index.md.j2", "script.j2"):
            (folder / file).write_text(attack)
    run(server, "notebook/export", notebook="a.ipynb", format=format, target="exported")
    assert not (server.folder / "attacked").exists()


def test_a_class_that_the_notebook_names_is_not_called(server: RunningServer) -> None:
    path = server.root / "a.ipynb"
    notebook = nbformat.read(path, as_version=4)
    language = {"name": "python", "file_extension": ".py", "nbconvert_exporter": "builtins.print"}
    notebook.metadata.language_info = language
    nbformat.write(notebook, path)
    run(server, "notebook/export", notebook="a.ipynb", format="script", target="exported")
    assert "1 + 1" in (server.root / "exported.py").read_text()


@pytest.mark.skipif(not all(map(shutil.which, ("xelatex", "pandoc"))), reason="needs TeX")
def test_tex_reads_nothing_but_pictures_of_the_root(server: RunningServer) -> None:
    outside = server.folder / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "text.tex").write_text("secret")
    picture = base64.b64decode(PICTURE)
    (outside / "out.png").write_bytes(picture)
    (server.root / "pictures").mkdir(exist_ok=True)
    (server.root / "pictures/in.png").write_bytes(picture)
    (server.root / "link.tex").symlink_to(outside / "text.tex")

    def exported(name: str, text: str) -> bytes:
        nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell(text)]), server.root / name)
        run(server, "notebook/export", notebook=name, format="pdf")
        return (server.root / name).with_suffix(".pdf").read_bytes()

    assert b"/Subtype/Image" in exported("within.ipynb", "![a](pictures/in.png)")
    assert b"/Subtype/Image" not in exported("without.ipynb", f"![a]({outside}/out.png)")
    for number, path in enumerate((f"{outside}/text", "link", "../outside/text")):
        with pytest.raises(AssertionError, match="File `"):
            exported(f"read-{number}.ipynb", rf"\input{{{path}.tex}}")


def test_an_export_cannot_leave_the_root(server: RunningServer) -> None:
    refused(
        server, "notebook/export", notebook="a.ipynb", format="html", target="../elsewhere.html"
    )
    assert not (server.root.parent / "elsewhere.html").exists()


# -- clean


def test_cleaning_can_be_undone(server: RunningServer, notebook: Path) -> None:
    before = read(notebook)
    what = ["outputs", "empty-cells", "execution-counts"]
    reply = run(server, "notebook/clean", notebook="a.ipynb", what=what)
    assert reply["reply"] == "Cleared 2 cells and removed 1 empty cell of `a.ipynb`."
    after = read(notebook)
    assert [cell.id for cell in after.cells] == ["one", "sum", "two", "show"]
    assert [cell.outputs for cell in after.cells if cell.cell_type == "code"] == [[], []]
    assert after.cells[1].execution_count is None

    last = server.get(f"sessions/{reply['sessionId']}")["lastSeq"]
    undo = {"type": "undo", "turnId": reply["turnId"]}
    server.post(f"sessions/{reply['sessionId']}/ops", undo)
    stream = server.stream(f"sessions/{reply['sessionId']}/events?after={last}")
    assert next(e for e in stream if e["type"] in ("changes_undone", "error"))["type"] != "error"
    assert read(notebook).cells == before.cells


def test_only_what_was_asked_for_is_cleaned(server: RunningServer, notebook: Path) -> None:
    run(server, "notebook/clean", notebook="a.ipynb", what=["execution-counts"])
    cells = {cell.id: cell for cell in read(notebook).cells}
    assert cells["sum"].execution_count is None
    assert cells["sum"].outputs[0].data == {"text/plain": "2"}
    assert "empty" in cells


def test_a_clean_notebook_is_not_written(server: RunningServer, notebook: Path) -> None:
    run(server, "notebook/clean", notebook="a.ipynb", what=["outputs"])
    before = notebook.stat().st_mtime_ns
    reply = run(server, "notebook/clean", notebook="a.ipynb", what=["outputs"])
    assert reply["reply"] == "`a.ipynb` is clean: there was nothing to do."
    assert notebook.stat().st_mtime_ns == before


# -- split and merge


def test_a_notebook_is_split_at_headings_and_merged_again(
    server: RunningServer, notebook: Path
) -> None:
    whole = read(notebook)
    run(server, "notebook/split", notebook="a.ipynb", level=2)
    parts = [read(server.root / f"a-{number}.ipynb") for number in (1, 2)]
    assert [[cell.id for cell in part.cells] for part in parts] == [
        ["one", "sum", "empty"],
        ["two", "show"],
    ]
    assert parts[1].metadata == whole.metadata
    assert read(notebook) == whole

    merged = ["a-1.ipynb", "a-2.ipynb"]
    run(server, "notebook/merge", notebooks=merged, target="b.ipynb")
    assert read(server.root / "b.ipynb").cells == whole.cells


def test_a_merged_notebook_has_each_id_once(server: RunningServer) -> None:
    shutil.copy(server.root / "a.ipynb", server.root / "c.ipynb")
    run(server, "notebook/merge", notebooks=["a.ipynb", "c.ipynb"], target="b")
    cells = read(server.root / "b.ipynb").cells
    assert len({cell.id for cell in cells}) == len(cells) == 10


def test_notebooks_of_different_languages_are_not_merged(server: RunningServer) -> None:
    other = v4.new_notebook(metadata={"language_info": {"name": "R"}})
    nbformat.write(other, server.root / "r.ipynb")
    why = refused(server, "notebook/merge", notebooks=["a.ipynb", "r.ipynb"], target="b")
    assert "different languages (python, r)" in why
    assert files(server) == {"a.ipynb", "r.ipynb"}


def test_a_split_writes_all_parts_or_none(server: RunningServer) -> None:
    (server.root / "a-2.ipynb").write_text("mine")
    assert "a-2.ipynb already" in refused(server, "notebook/split", notebook="a.ipynb", cell=4)
    assert files(server) == {"a.ipynb", "a-2.ipynb"}


@pytest.mark.parametrize("where", [{}, {"level": 2, "cell": 3}, {"cell": 9}, {"level": 6.5}])
def test_a_place_that_is_none_is_refused(server: RunningServer, where: dict[str, Any]) -> None:
    refused(server, "notebook/split", notebook="a.ipynb", **where)
    assert files(server) == {"a.ipynb"}


# -- scripts


def test_a_script_becomes_the_notebook_again(server: RunningServer, notebook: Path) -> None:
    run(server, "notebook/to-script", notebook="a.ipynb", target="a.py")
    script = (server.root / "a.py").read_text()
    assert '# %% id="sum"\n1 + 1\n' in script
    assert '# %% [markdown] id="two"\n# ## Two\n' in script
    compile(script, "a.py", "exec")
    run(server, "notebook/from-script", script="a.py", target="again.ipynb")
    before, after = read(notebook), read(server.root / "again.ipynb")
    assert [(c.id, c.cell_type, c.source) for c in after.cells] == [
        (c.id, c.cell_type, c.source) for c in before.cells
    ]
    assert after.metadata == before.metadata


# -- quality


def test_the_quality_report_is_the_answer(server: RunningServer) -> None:
    reply = run(server, "notebook/quality", notebook="a.ipynb")
    assert reply["reply"].startswith("**Quality: ")
    assert "To improve it:" in reply["reply"]


# -- Lexical documents


def test_a_notebook_becomes_a_lexical_document_and_is_the_same_again(
    server: RunningServer, notebook: Path
) -> None:
    run(server, "lexical/to-lexical", notebook="a.ipynb", target="b")
    assert_lexical([(server.root / "b.dlex").read_text()])
    run(server, "lexical/from-lexical", document="b.dlex", format="notebook")
    before, after = read(notebook), read(server.root / "b.ipynb")
    assert [(each.cell_type, each.source) for each in after.cells] == [
        (each.cell_type, each.source) for each in before.cells
    ]
    assert [each.get("outputs") for each in after.cells] == [
        each.get("outputs") for each in before.cells
    ]
    for form, suffix, said in [("markdown", "md", "## Two"), ("html", "html", PICTURE)]:
        run(server, "lexical/from-lexical", document="b.dlex", format=form)
        assert said in (server.root / f"b.{suffix}").read_text()
    (server.root / "c.dlex").write_text("{}")
    said = refused(server, "lexical/from-lexical", document="c.dlex", format="html")
    assert "not a Lexical document" in str(said)
    assert not (server.root / "c.html").exists()
