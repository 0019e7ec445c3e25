"""``/data``: data files converted, sampled, joined, profiled and registered; tables written."""

from __future__ import annotations

from ...service import Link, Service, ServiceConfig
from .convert import Convert
from .join import Join
from .profile import Profile
from .register import Register
from .sample import Sample
from .write_table import WriteTable

_CONTEXT = """
# Formats
CSV is read by every program, but has no types: dates, codes with leading zeros and missing values
are guessed anew by each reader.

Parquet keeps the type of each column, is compressed, and is read by columns: for more than some
ten thousand rows it is the best choice for work in Python, R or DuckDB.

Excel is for people who look at the table: a sheet has at most 1,048,576 rows, and a number at most
15 exact digits.

JSON lines, an object a line, is for records whose fields differ or are nested, and for logs.

# Converting
Convert reads CSV and TSV with any delimiter and encoding, Parquet, JSON, JSON lines and Excel, and
writes CSV, TSV, Parquet, Excel and JSON lines.

Each column gets a type that all of its values have: text with leading zeros stays text. The new
file is read back, and its rows and types are compared with the first. Rows that cannot be read are
counted and named by their lines.

Of an Excel workbook the first sheet that is not empty is read.

# Sampling
A sample is drawn at random, without replacement, and keeps the order of the rows. The same seed
draws the same rows of the same file again.

A sample of the first rows is not random: files are often sorted by time or by group.

# Joining
Before a join the keys are checked: a key that is repeated on one side repeats the other side's
rows, and one that is repeated on both sides (many-to-many) multiplies them. The latter is refused
unless you allow it.

An inner join keeps only rows that match, a left join all of the first file, an outer join all of
both. Keys that have no value match nothing. Keys that are text in one file and numbers in the other
are refused.

# Profiling
A profile is a new notebook that explores the file: types, missing values, distributions, outliers
and what goes together. It is the workflow “Exploratory data analysis”.

# Data sets
A data set is a table that the agent knows by its name: kept as Parquet, described to a model
without its rows, and loaded into a kernel when it is asked for. Register makes one of a file that
is there, as an upload does; the file stays as it is.

# Tables of the kernel
Write table writes a data frame of pandas or polars, or an Arrow table, from the notebook's running
kernel. A named index becomes a column; a column of several types is written as text. Kernels of
other languages than Python write their tables in a cell, for example R by `write.csv`.

# Files
A file that exists is never overwritten: give another name, or delete it first.
"""

SERVICE = Service(
    id="data",
    name="Data",
    description="Convert, sample, join, profile and register data files; write a kernel's table.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[
            Link("Parquet", "https://parquet.apache.org/docs/"),
            Link("DuckDB: importing data", "https://duckdb.org/docs/stable/data/overview"),
        ],
        topics=[
            "CSV",
            "Parquet",
            "Excel",
            "xlsx",
            "JSON lines",
            "spreadsheet",
            "sample",
            "join",
        ],
        # What is done in the notebook, with its variables.
        not_topics=["show", "display", "frame", "frames", "df", "read", "load", "plot"],
        questions=[
            "Who or what reads the file next?",
            "How many rows does it have?",
        ],
    ),
    examples=["Convert sales.csv to Parquet", "Is CSV or Parquet better for large data files?"],
    actions=[Convert, Sample, Join, Profile, Register, WriteTable],
)
