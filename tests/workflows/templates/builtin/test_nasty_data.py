"""Files as people have them: empty, tiny, oddly named, oddly encoded, or no tables at all."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas
import pytest

from jupyter_datalayer_agent.workflows.template import StepFailed
from jupyter_datalayer_agent.workflows.templates.builtin.in_kernel.profile import profile
from jupyter_datalayer_agent.workflows.templates.catalogue import builtin_catalogue
from tests.support.template_run import KernelForTemplates, NotebookRun
from tests.workflows.templates.builtin.checks import check, images, prose

ROWS = 60


async def analyse(
    kernel: KernelForTemplates,
    name: str,
    template_id: str = "exploratory-data-analysis",
    answers: Sequence[str] = (),
    **more: str,
) -> NotebookRun:
    template = builtin_catalogue().find(template_id)
    assert template is not None
    given = {"data": name, "notebook": "nasty.ipynb", **more}
    return await kernel.run(template, given, answers)


def write(kernel: KernelForTemplates, name: str, content: str | bytes) -> Path:
    file = kernel.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def formatted(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "88", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True).stdout


def sources(run: NotebookRun) -> str:
    return "\n".join(cell.source for cell in run.document.cells if cell.cell_type == "code")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.csv", "", "it is empty"),
        ("blank.csv", " \n\n \n", "nothing but white space"),
        ("header.csv", "a,b,c\n", "no rows"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "it is a PNG picture"),
        ("book.csv", b"PK\x03\x04" + bytes(100), "an Excel workbook or a zip archive"),
        ("binary.csv", bytes(range(256)) * 4, "it is a binary file"),
        ("page.csv", "<!DOCTYPE html>\n<html><body>No</body></html>", "it is a web page"),
        ("feed.csv", '<?xml version="1.0"?>\n<rss></rss>', "it holds HTML or XML"),
        (
            "stored.csv",
            "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n",
            "it is a Git LFS pointer, not the table itself; run: git lfs pull",
        ),
        (
            "units.csv",
            "time,speed\ns,m/s\n" + "".join(f"{n},{n}.5\n" for n in range(ROWS)),
            "has a row below the names that is no data (s, m/s)",
        ),
        ("list.csv", '[{"a": 1}, {"a": 2}]', "it holds JSON"),
        (
            "letter.csv",
            "Dear all,\nthis, as you see, is a letter, not a table,\nor is it?\nNo, no.\n"
            "It has, now and then, a comma,\nand\nno, order,\n",
            "it is not a table",
        ),
        ("cut.parquet", b"PAR1" + bytes(50), "no Parquet file that pandas can read"),
    ],
)
async def test_what_is_no_table_is_reported_before_a_cell_is_written(
    kernel: KernelForTemplates, name: str, content: str | bytes, reason: str
) -> None:
    write(kernel, name, content)
    with pytest.raises(StepFailed) as failed:
        await analyse(kernel, name)
    assert name in failed.value.message
    assert reason in failed.value.message
    assert failed.value.cell_id is None


async def test_a_file_that_is_not_there(kernel: KernelForTemplates) -> None:
    with pytest.raises(StepFailed, match="there is no such file"):
        await analyse(kernel, "nowhere.csv")


@pytest.mark.parametrize("template_id", ["exploratory-data-analysis", "data-visualization-report"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("row.csv", "a,b,when\n1,x,2020-01-01\n"),
        ("two.csv", "a,b\n1,x\n2,y\n"),
        ("column.csv", "value\n" + "\n".join(str(n % 7 + n / 10) for n in range(ROWS))),
        ("words.csv", "word\n" + "\n".join(["red", "green", "blue"] * 20)),
        ("hollow.csv", "a,b,c\n" + "\n".join(f"{n},,{n * n % 11}" for n in range(ROWS))),
        ("same.csv", "a,b\n" + "1,1\n" * ROWS),
    ],
)
async def test_small_and_hollow_tables_have_only_cells_that_fit(
    kernel: KernelForTemplates, name: str, content: str, template_id: str
) -> None:
    write(kernel, name, content)
    run = await analyse(kernel, name, template_id)
    check(run)
    numbers = content.partition("\n")[0].count(",") + 1
    if numbers == 1 or name in ("row.csv", "same.csv"):
        assert "sns.heatmap" not in sources(run)


async def test_names_of_columns_with_anything_in_them(kernel: KernelForTemplates) -> None:
    names = [
        'a "quoted" name',
        "it's",
        "two\nlines",
        "größe (µm)",
        "a,b",
        "price in $",
        "$x^2$",
        "名前",
    ]
    table = pandas.DataFrame(
        {name: [(n * (k + 3)) % 17 + n / 9 for n in range(ROWS)] for k, name in enumerate(names)}
    )
    table["kind\\of"] = ["it's", 'a "b"', "$1-$2", "x_y^z", "日本", "🙂"] * 10
    table.to_csv(kernel.root / "names.csv", index=False)
    for template_id in ("exploratory-data-analysis", "data-visualization-report"):
        run = await analyse(kernel, "names.csv", template_id)
        check(run)
        assert len(images(run.document)) >= 3
    await analyse(kernel, "names.csv", "machine-learning-pipeline", target="kind\\of")


async def test_columns_of_the_same_name(kernel: KernelForTemplates) -> None:
    lines = "\n".join(f"{n},{n % 5 + 0.5},{-n}" for n in range(ROWS))
    write(kernel, "twice.csv", "a,a,a\n" + lines)
    run = await analyse(kernel, "twice.csv")
    check(run)
    assert [column["name"] for column in run.facts["data"]["columns"]] == ["a", "a.1", "a.2"]


async def test_semicolons_decimal_commas_latin1_and_days_first(kernel: KernelForTemplates) -> None:
    lines = [
        f"{n % 28 + 1:02}.{n % 12 + 1:02}.2023;Zürich;1.{n % 10}00,5;{n},25" for n in range(ROWS)
    ]
    text = "Datum;Stadt;Preis;Größe\n" + "\n".join(lines)
    write(kernel, "schweiz.csv", text.encode("latin-1"))
    run = await analyse(kernel, "schweiz.csv", encoding="latin-1")
    check(run)
    # The dots of the dates keep the separator of thousands to its own column.
    assert run.facts["data"]["read"] == {
        "sep": ";",
        "encoding": "latin-1",
        "decimal": ",",
        "dtype": {"Preis": "str"},
    }
    kinds = {each["name"]: each["kind"] for each in run.facts["data"]["columns"]}
    assert kinds == {"Datum": "date", "Stadt": "constant", "Preis": "number", "Größe": "number"}
    assert 'format="%d.%m.%Y"' in sources(run)


async def test_utf16(kernel: KernelForTemplates) -> None:
    write(kernel, "utf16.csv", ("a,b\n" + "1,ü\n" * 9).encode("utf-16"))
    run = await analyse(kernel, "utf16.csv", "data-analysis-notebook")
    check(run)
    assert run.facts["data"]["read"] == {"encoding": "utf-16"}


async def test_an_encoding_that_is_not_certain_is_chosen_by_its_words(
    kernel: KernelForTemplates,
) -> None:
    content = ("北京,wert\n" + "".join(f"北京{n},{n}\n" for n in range(30))).encode("gbk")
    write(kernel, "gbk.csv", content)
    with pytest.raises(StepFailed, match=r"encoding of gbk.csv is not certain.*gb18030: 北京"):
        await analyse(kernel, "gbk.csv", "data-analysis-notebook")
    run = await analyse(
        kernel, "gbk.csv", "data-analysis-notebook", answers=["gb18030: 北京, 北京0"]
    )
    check(run)
    assert run.facts["data"]["read"] == {"encoding": "gb18030"}
    assert [each["name"] for each in run.facts["data"]["columns"]] == ["北京", "wert"]
    assert "GBK (simplified Chinese)" in prose(run.document)[0]
    given = await analyse(kernel, "gbk.csv", "data-analysis-notebook", encoding="gbk")
    assert given.facts["data"]["columns"][0]["top"][0] == ["北京0", 1]


async def test_what_may_be_read_otherwise_is_said(kernel: KernelForTemplates) -> None:
    rows = "".join(
        f"{n % 28 + 1:02}.03.2024;1.{n:03};{'x1' if n == 40 else n}\n" for n in range(ROWS)
    )
    write(kernel, "doubt.csv", f"tag;wert;zahl\n{rows}")
    run = await analyse(kernel, "doubt.csv", "data-analysis-notebook")
    check(run)
    said = prose(run.document)[0]
    assert "They can be read in two ways" in said
    assert "`zahl` is text: 1 value of it, such as `x1`, is not a number." in said
    run = await analyse(kernel, "doubt.csv", "data-analysis-notebook", decimal=",")
    check(run)
    assert run.facts["data"]["columns"][1]["max"] == 1059


async def test_lines_that_are_no_rows_are_left_out_and_named(kernel: KernelForTemplates) -> None:
    rows = "".join(f'"n\n{n}";{n}\n' for n in range(ROWS))
    write(kernel, "footer.csv", f"sep=;\na;b\n{rows}oops\n1;2\nQuelle: Amt\n")
    run = await analyse(kernel, "footer.csv", "data-analysis-notebook")
    check(run)
    assert run.facts["data"]["rows"] == ROWS + 1
    assert "Left out" in prose(run.document)[0]
    assert "lines 123 and 125" in prose(run.document)[0]


async def test_markers_of_missing_values_preambles_and_row_numbers(
    kernel: KernelForTemplates,
) -> None:
    body = "\n".join(f"{n},{'?' if n % 9 == 0 else n * 2},{'xy?'[n % 3]}" for n in range(ROWS))
    write(kernel, "marked.csv", f"# made by hand\n# on Monday\n,speed,kind\n{body}")
    run = await analyse(kernel, "marked.csv")
    check(run)
    read = run.facts["data"]["read"]
    assert read == {"skiprows": 2, "index_col": 0, "na_values": {"speed": ["?"]}}
    # A text may be "?" all the same.
    assert [each["missing"] for each in run.facts["data"]["columns"]] == [7, 0]
    assert "`?` means a missing value in `speed`." in prose(run.document)[0]


async def test_na_is_a_value_among_codes_and_elsewhere_none_and_both_are_said(
    kernel: KernelForTemplates,
) -> None:
    codes, sexes, counts = (
        ["DE", "NA", "FR", ""],
        ["male", "NA", "female", "male"],
        ["1", "2", "NA", "4"],
    )
    body = "".join(f"{codes[n % 4]},{sexes[n % 4]},{counts[n % 4]},x\n" for n in range(ROWS))
    write(kernel, "codes.csv", f"country,sex,count,count\n{body}")
    run = await analyse(kernel, "codes.csv", "data-analysis-notebook")
    check(run)
    columns = {each["name"]: each for each in run.facts["data"]["columns"]}
    assert [each["missing"] for each in columns.values()] == [15, 15, 15, 0]
    assert ["NA", 15] in columns["country"]["top"]
    said = prose(run.document)[0]
    assert "`NA` is a value, not a gap, in `country`." in said
    assert "`NA` means a missing value in `sex`." in said
    outputs, _ = kernel.execute("print((df.country == 'NA').sum(), df['count'].sum())")
    assert outputs[0].text == "15 105.0\n"


async def test_the_cell_that_loads_a_wide_table_is_formatted(kernel: KernelForTemplates) -> None:
    names = [f"measured_in_year_{year}" for year in range(2010, 2022)]
    rows = "".join(
        f"{['DE', 'NA', 'FR'][n % 3]},{','.join('NA' if n == 5 else f'00{n}' for _ in names[:6])},"
        f"{','.join('NA' if n == 7 else str(n) for _ in names[6:])}\n"
        for n in range(ROWS)
    )
    write(kernel, "wide.csv", f"country,{','.join(names)}\n{rows}")
    run = await analyse(kernel, "wide.csv", "data-analysis-notebook")
    check(run)
    [cell] = [each.source for each in run.document.cells if "read_csv(" in each.source]
    assert "dtype={\n" in cell
    assert "na_values={\n" in cell
    assert formatted(cell) == cell + "\n"


async def test_tabs_in_a_compressed_file_with_money_and_percentages(
    kernel: KernelForTemplates,
) -> None:
    body = "\n".join(f"${n * 37:,}.50\t{n % 50} %\t{'yes' if n % 2 else 'no'}" for n in range(ROWS))
    write(kernel, "money.tsv.gz", gzip.compress(f"amount\trate\tpaid\n{body}".encode()))
    run = await analyse(kernel, "money.tsv.gz")
    check(run)
    columns = {each["name"]: each for each in run.facts["data"]["columns"]}
    assert columns["amount"]["max"] == 59 * 37 + 0.5
    assert (columns["rate"]["kind"], columns["paid"]["kind"]) == ("number", "category")


async def test_types_that_parquet_keeps(kernel: KernelForTemplates) -> None:
    table = pandas.DataFrame(
        {
            "whole": pandas.array([None if n % 7 == 0 else n for n in range(ROWS)], dtype="Int64"),
            "word": pandas.array([None, "a", "b"] * 20, dtype="string"),
            "flag": pandas.array([None, True, False] * 20, dtype="boolean"),
            "level": pandas.Categorical(["low", "high"] * 30, categories=["low", "mid", "high"]),
            "when": pandas.date_range("2024-01-01", periods=ROWS, freq="h", tz="Europe/Berlin"),
            "list": [[n, n + 1] for n in range(ROWS)],
            "endless": [float("inf") if n == 5 else n / 7 for n in range(ROWS)],
        }
    ).set_index("when")
    table.to_parquet(kernel.root / "types.parquet")
    run = await analyse(kernel, "types.parquet")
    check(run)
    kinds = {each["name"]: each["kind"] for each in run.facts["data"]["columns"]}
    assert kinds == {
        "when": "date", "whole": "number", "word": "category", "flag": "boolean",
        "level": "category", "list": "nested", "endless": "number",
    }  # fmt: skip
    check(await analyse(kernel, "types.parquet", "machine-learning-pipeline", target="level"))


async def test_a_path_with_anything_in_it_is_written_relative_to_the_notebook(
    kernel: KernelForTemplates,
) -> None:
    name = 'my data/it\'s "ñ" 名/a b.csv'
    write(kernel, name, "a,b\n" + "\n".join(f"{n},{n % 4}" for n in range(ROWS)))
    template = builtin_catalogue().find("data-analysis-notebook")
    assert template is not None
    run = await kernel.run(template, {"data": name, "notebook": "my data/neu/x.ipynb"})
    check(run)
    assert run.facts["data"]["path"] == '../it\'s "ñ" 名/a b.csv'


async def test_a_price_a_region_in_three_spellings_and_free_text_are_taken_for_what_they_are(
    kernel: KernelForTemplates,
) -> None:
    regions = ["East", "East", "east", " East ", "West", "North", "IT", "it"]
    notes = "was asked about the number {n} of the order by a friend of his".format
    rows = [
        f'"${1000 + n * 37 % 900:,}.50",{regions[n % 8]},"{notes(n=n)} {n % 13}"\n'
        for n in range(160)
    ]
    write(kernel, "orders.csv", "price,region,notes\n" + "".join(rows))
    run = await analyse(kernel, "orders.csv", "machine-learning-pipeline")
    code, text = sources(run), "\n".join(prose(run.document))
    assert '{"east": "East", " East ": "East"}' in code
    assert "`price` is read as numbers" in text
    assert (
        'In `region`, other spellings are read as one value: `"east"` and `" East "` as `East`.'
        in text
    )
    assert "# Predicting `price`" in text
    assert "`notes`" in text
    check(run)


@pytest.mark.parametrize(
    ("values", "same"),
    [
        (["Red", "red", "blue"], {"red": "Red"}),
        (["m", "M", "km"], None),
        (["CO", "Co", "He"], None),
        ([" a ", " b ", " c "], None),
        (["New York", "new  york", "Boston"], {"new  york": "New York"}),
        (["Äpfel", "äpfel ", "ÄPFEL"], {"äpfel ": "Äpfel", "ÄPFEL": "Äpfel"}),
        (["ABC-1", "ABC-2", "ABC-3"], None),
    ],
)
def test_spellings_of_one_value(values: list[str], same: dict[str, str] | None) -> None:
    frame = pandas.DataFrame({"column": [*values * 20, values[0]]})
    how = {"format": "parquet", "read": {}, "codes": [], "numbers": {}}
    [column] = profile(frame, None, how)["columns"]
    assert (column["convert"] or {}).get("same") == same


@pytest.mark.parametrize("path", ["../secret.csv", "a/../../b.csv", "", "/", ".."])
def test_a_path_out_of_the_root_is_refused(path: str) -> None:
    for template in builtin_catalogue():
        with pytest.raises(ValueError, match="under the server root"):
            template.parameters.model_validate({"data": path})


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"target": "same"}, "'same' has one value only"),
        ({"target": "nothing"}, "no column 'nothing'"),
        ({"target": "valu"}, "Did you mean 'value'"),
        ({"target": "kind", "task": "regression"}, "holds no numbers"),
        ({"target": "value", "task": "classification"}, "fewer than two values with 10 rows each"),
        ({"target": "kind", "dateColumn": "kind"}, "'kind' holds no dates"),
    ],
)
async def test_what_cannot_be_modelled_is_reported(
    kernel: KernelForTemplates, more: dict[str, str], reason: str
) -> None:
    body = "\n".join(f"{n * 1.5},x{n % 3},1" for n in range(ROWS))
    write(kernel, "model.csv", f"value,kind,same\n{body}")
    with pytest.raises(StepFailed) as failed:
        await analyse(kernel, "model.csv", "machine-learning-pipeline", **more)
    assert reason in failed.value.message


async def test_few_rows_are_no_model(kernel: KernelForTemplates) -> None:
    write(kernel, "few.csv", "a,b\n1,2\n3,4\n")
    with pytest.raises(StepFailed, match="2 rows have a value of 'b'; a model needs 40"):
        await analyse(kernel, "few.csv", "machine-learning-pipeline")


async def test_a_model_leaves_out_what_gives_the_target_away(kernel: KernelForTemplates) -> None:
    body = "\n".join(
        f"{n},{n % 7},{'ab'[n % 2]},{['no', 'yes'][n % 2]},{n % 2}" for n in range(200)
    )
    write(kernel, "leak.csv", f"row_id,x,group,alive,survived\n{body}")
    run = await analyse(kernel, "leak.csv", "machine-learning-pipeline")
    check(run)
    study = run.facts["study"]
    assert (study["target"], study["inferred"]) == ("survived", True)
    assert study["leaks"] == ["group", "alive"]
    assert "`row_id` (no measurement)" in " ".join(prose(run.document))


async def test_a_series_is_split_by_time(kernel: KernelForTemplates) -> None:
    days = pandas.date_range("2023-01-01", periods=120)
    table = pandas.DataFrame({"day": days, "load": [n % 7 + n / 50 for n in range(120)]})
    table.sample(frac=1, random_state=0).to_csv(kernel.root / "series.csv", index=False)
    run = await analyse(kernel, "series.csv", "machine-learning-pipeline", target="LOAD")
    check(run)
    assert "TimeSeriesSplit" in sources(run)
    assert "shuffle=False" in sources(run)


async def test_a_file_in_utf8_is_read_so_whatever_encoding_is_given(
    kernel: KernelForTemplates,
) -> None:
    write(kernel, "given.csv", "Ort;Wert\n" + "".join(f"Köln {n};{n}\n" for n in range(ROWS)))
    run = await analyse(kernel, "given.csv", "data-analysis-notebook", encoding="cp1252")
    assert "encoding" not in run.facts["data"]["read"]
    outputs, _ = kernel.execute("print(df.iloc[1, 0])")
    assert outputs[0].text == "Köln 1\n"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("MÃ¼nchen", "'MÃ¼nchen', for 'München', were UTF-8"),
        ("M\ufffdn", "a replacement character"),
    ],
)
async def test_letters_that_were_lost_before_are_named_in_the_first_cell(
    kernel: KernelForTemplates, word: str, said: str
) -> None:
    write(kernel, "lost.csv", "Ort,Wert\n" + "".join(f"{word},{n}\n" for n in range(ROWS)))
    run = await analyse(kernel, "lost.csv", "data-analysis-notebook")
    assert said in run.document.cells[0].source


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("df.loc[2, 'Preis'] *= 100", "it has “299.0” in row 3 of the column Preis"),
        ("df.loc[5, 'Ort'] = 'KÃ¶ln'", "it has “KÃ¶ln” in row 6 of the column Ort"),
        ("df.loc[5, 'Ort'] = None", "in row 6 of the column Ort, where the file has “Köln”"),
        ("df = df.head(3)", "it has 3 rows; the file has 60"),
        ("df.columns = ['Ort', 'x']", "it has the columns Ort, x; the file has others"),
    ],
)
async def test_a_loaded_table_that_differs_from_the_file_ends_the_workflow(
    kernel: KernelForTemplates, change: str, said: str
) -> None:
    write(kernel, "same.csv", "Ort;Preis\n" + "".join(f"Köln;{n},99\n" for n in range(ROWS)))
    patch = f"""
import pandas as pd
def _other(path, _read=pd.read_csv, **how):
    df = _read(path, **how)
    if "nrows" not in how:
        {change}
    return df
pd.read_csv = _other
"""
    await analyse(kernel, "same.csv", "data-analysis-notebook")
    kernel.execute(patch)
    template = builtin_catalogue().find("data-analysis-notebook")
    assert template is not None
    try:
        with pytest.raises(StepFailed) as failed:
            await kernel.run(template, {"data": "same.csv", "notebook": "same.ipynb"})
    finally:
        kernel.execute("import importlib, pandas.io.parsers as p, pandas as pd")
        kernel.execute("pd.read_csv = p.read_csv")
    assert said in failed.value.message
    assert failed.value.cell_id is not None
