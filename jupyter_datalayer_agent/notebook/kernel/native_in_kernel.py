"""Runs inside a Python kernel, after ``acts_in_kernel``: functions whose native code writes files,
reads addresses, connects or leaves this interpreter raise an audit event of ours before they do,
since the interpreter raises none for them.

While a run of the agent's lasts, such a function is replaced where code finds it, in its module or
its class, so that it is the same however the code names it. Nothing is replaced in the user's
runs, and no module is imported for it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

EVENT = "datalayer_agent.native"

# A module and the function in it, the place and the name of the argument that is the target, and
# what it does with that:
#
# writes    replaces the file
# appends   adds to the file
# opens     as a mode says: its place, its name, and the mode where none is given
# fills     writes into the folder, unless the option after it has this value, with which it fails
#           where something is there
# sources   reads the file or address
# runs      runs the SQL of DuckDB
# dials     connects to the address; what it is called where no address is given
# enters    makes another interpreter in this process, or runs code in one
_CALLS = """
_gdbm                   open                            0 filename      opens 1 flags r
_interpreters           call                            0 id            enters
_interpreters           create                          0 config        enters
_interpreters           exec                            0 id            enters
_interpreters           run_func                        0 id            enters
_interpreters           run_string                      0 id            enters
_testcapi               run_in_subinterp                0 code          enters
_testcapi               run_in_subinterp_with_config    0 code          enters
_testinternalcapi       create_interpreter              0 config        enters
_testinternalcapi       exec_interpreter                0 id            enters
_testinternalcapi       run_in_subinterp_with_config    0 code          enters
_xxsubinterpreters      create                          0 isolated      enters
_xxsubinterpreters      run_string                      0 id            enters
cv2                     VideoWriter                     0 filename      writes
cv2                     imwrite                         0 filename      writes
catboost.core           CatBoost.save_model             1 fname         writes
dbm.gnu                 open                            0 filename      opens 1 flags r
deltalake               write_deltalake                 0 table_or_uri  fills 99 mode error
duckdb                  DuckDBPyConnection.execute      1 query         runs
duckdb                  DuckDBPyConnection.executemany  1 query         runs
duckdb                  DuckDBPyConnection.from_csv_auto 1 path         sources
duckdb                  DuckDBPyConnection.from_parquet 1 path          sources
duckdb                  DuckDBPyConnection.from_query   1 query         runs
duckdb                  DuckDBPyConnection.query        1 query         runs
duckdb                  DuckDBPyConnection.read_csv     1 path          sources
duckdb                  DuckDBPyConnection.read_json    1 path          sources
duckdb                  DuckDBPyConnection.read_parquet 1 path          sources
duckdb                  DuckDBPyConnection.sql          1 query         runs
duckdb                  DuckDBPyRelation.query          2 sql_query     runs
duckdb                  DuckDBPyRelation.to_csv         1 file_name     writes
duckdb                  DuckDBPyRelation.to_parquet     1 file_name     writes
duckdb                  DuckDBPyRelation.write_csv      1 file_name     writes
duckdb                  DuckDBPyRelation.write_parquet  1 file_name     writes
duckdb                  execute                         0 query         runs
duckdb                  executemany                     0 query         runs
duckdb                  from_csv_auto                   0 path          sources
duckdb                  from_parquet                    0 path          sources
duckdb                  from_query                      0 query         runs
duckdb                  query                           0 query         runs
duckdb                  query_df                        2 sql_query     runs
duckdb                  read_csv                        0 path          sources
duckdb                  read_json                       0 path          sources
duckdb                  read_parquet                    0 path          sources
duckdb                  sql                             0 query         runs
duckdb                  write_csv                       1 filename      writes
faiss                   write_index                     1 fname         writes
fiona                   open                            0 fp            opens 1 mode r
h5py._hl.files          File.__init__                   1 name          opens 2 mode r
lance                   write_dataset                   1 uri           fills 3 mode create
lightgbm.basic          Booster.save_model              1 filename      writes
MySQLdb.connections     Connection.__init__             1 host          dials localhost
netCDF4                 Dataset                         0 filename      opens 1 mode r
osgeo.gdal              Driver.Create                   1 utf8_path     writes
osgeo.gdal              Driver.CreateCopy               1 utf8_path     writes
osgeo.gdal              Translate                       0 destName      writes
osgeo.gdal              VectorTranslate                 0 destNameOrDestDS writes
osgeo.gdal              Warp                            0 destNameOrDestDS writes
osgeo.ogr               Driver.CreateDataSource         1 utf8_path     writes
polars                  read_ipc                        0 source        sources
polars                  read_parquet                    0 source        sources
polars                  scan_csv                        0 source        sources
polars                  scan_ipc                        0 source        sources
polars                  scan_ndjson                     0 source        sources
polars                  scan_parquet                    0 source        sources
polars.dataframe.frame  DataFrame.write_avro            1 file          writes
polars.dataframe.frame  DataFrame.write_csv             1 file          writes
polars.dataframe.frame  DataFrame.write_ipc             1 file          writes
polars.dataframe.frame  DataFrame.write_ipc_stream      1 file          writes
polars.dataframe.frame  DataFrame.write_json            1 file          writes
polars.dataframe.frame  DataFrame.write_ndjson          1 file          writes
polars.dataframe.frame  DataFrame.write_parquet         1 file          writes
polars.lazyframe.frame  LazyFrame.sink_csv              1 path          writes
polars.lazyframe.frame  LazyFrame.sink_ipc              1 path          writes
polars.lazyframe.frame  LazyFrame.sink_ndjson           1 path          writes
polars.lazyframe.frame  LazyFrame.sink_parquet          1 path          writes
psycopg.generators      connect                         0 conninfo      dials localhost
psycopg2                connect                         0 dsn           dials localhost
pyarrow                 OSFile                          0 path          opens 1 mode r
pyarrow                 create_memory_map               0 path          writes
pyarrow                 memory_map                      0 path          opens 1 mode r
pyarrow                 output_stream                   0 source        writes
pyarrow.csv             CSVWriter                       0 sink          writes
pyarrow.csv             write_csv                       1 output_file   writes
pyarrow.dataset         dataset                         0 source        sources
pyarrow.dataset         write_dataset                   1 base_dir      fills 99 existing_data_behavior error
pyarrow.feather         write_feather                   1 dest          writes
pyarrow.fs              GcsFileSystem                   99 endpoint_override dials Google Cloud Storage
pyarrow.fs              S3FileSystem                    99 endpoint_override dials Amazon S3
pyarrow.ipc             RecordBatchFileWriter.__init__  1 sink          writes
pyarrow.ipc             RecordBatchStreamWriter.__init__ 1 sink         writes
pyarrow.orc             ORCWriter.__init__              1 where         writes
pyarrow.parquet.core    ParquetWriter.__init__          1 where         writes
pyarrow.parquet.core    read_table                      0 source        sources
pyarrow.parquet         read_table                      0 source        sources
pyodbc                  connect                         0 connstring    dials a database by ODBC
pyogrio                 write_dataframe                 1 path          writes
pyogrio.geopandas       write_dataframe                 1 path          writes
pyreadstat              write_dta                       1 dst_path      writes
pyreadstat              write_sav                       1 dst_path      writes
pyreadstat              write_xport                     1 dst_path      writes
rasterio                open                            0 fp            opens 1 mode r
readline                append_history_file             1 filename      appends
readline                write_history_file              0 filename      writes
safetensors             serialize_file                  1 filename      writes
safetensors.numpy       serialize_file                  1 filename      writes
safetensors.torch       serialize_file                  1 filename      writes
SimpleITK               WriteImage                      1 fileName      writes
soundfile               SoundFile.__init__              1 file          opens 2 mode r
tables.file             File.__init__                   1 filename      opens 2 mode r
torch                   save                            1 f             writes
torch.serialization     save                            1 f             writes
xgboost.core            Booster.save_model              1 fname         writes
zmq.sugar.socket        Socket.connect                  1 addr          dials
"""  # noqa: E501

_SQL_LOSSES = {
    "delete": "delete rows of a table in",
    "update": "change rows of a table in",
    "truncate": "empty a table of",
    "drop": "drop a part of",
    "alter": "alter a part of",
    "merge": "change rows of a table in",
}
_READS_FROM = ("from", "join")
_READS_TO = frozenset(
    "select where group order having limit on using union qualify window sample set values".split()  # noqa: SIM905
)
# What is made anew with these loses nothing in a file.
_OF_THE_PROCESS = frozenset(["macro", "function", "temp", "temporary", "secret"])
# SQL that has none of these reads and changes nothing outside of the process.
_SQL_WORDS = (*_SQL_LOSSES, *_READS_FROM, "copy", "export", "attach", "install", "replace")
# Of many small constants, so many characters take about 1 s to divide. More are not divided.
_LONGEST_SQL = 200_000


class _Call:
    """A line of the table."""

    def __init__(self, line: str) -> None:
        self.module, self.function, at, self.name, self.act, *rest = line.split(None, 5)
        self.at = int(at)
        self.rest = rest[0].strip() if rest else ""

    def target(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return _argument(args, options, self.at, self.name, None)

    def option(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, str]:
        """The value of the option that it depends on, and the one where none is given."""
        at, name, default = self.rest.split()
        return _argument(args, options, int(at), name, default), default


def _argument(
    args: tuple[Any, ...], options: dict[str, Any], at: int, name: str, default: Any
) -> Any:
    return options[name] if name in options else args[at] if at < len(args) else default


class NativeCalls:
    """The functions of the table, in this process. ``replaced`` are those that are replaced now:
    where, by which name, and what was there."""

    def __init__(self) -> None:
        self.calls: dict[str, list[str]] = {}
        for line in _CALLS.strip().splitlines():
            self.calls.setdefault(line.split(None, 1)[0], []).append(line)
        self.replaced: list[tuple[Any, str, Any, Any]] = []
        self.stand_ins: dict[tuple[int, str], tuple[Any, Any]] = {}
        self.active = False

    # -- replacing -----------------------------------------------------------------------------

    def begin(self, variables: dict[str, Any]) -> None:
        """A run of the agent's begins, and may have these variables."""
        if self.active:
            return
        self.active = True
        for name in self.calls:
            module = sys.modules.get(name)
            if module is not None:
                self.replace(module)
        self._rename(variables, {id(old): new for _, _, old, new in self.replaced})
        sys.meta_path.insert(0, self)

    def end(self, variables: dict[str, Any]) -> None:
        """No run of the agent's is active any more: all is as it was."""
        if not self.active:
            return
        self.active = False
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        replaced, self.replaced = self.replaced, []
        for owner, name, old, new in reversed(replaced):
            if vars(owner).get(name) is new:
                setattr(owner, name, old)
        self._rename(variables, {id(new): old for _, _, old, new in replaced})

    def replace(self, module: Any) -> None:
        for line in self.calls[module.__name__]:
            owner: Any = module
            *outer, name = line.split(None, 2)[1].split(".")
            for each in outer:
                owner = getattr(owner, each, None)
            old = getattr(owner, "__dict__", {}).get(name)
            if old is None or not callable(old) or isinstance(old, _StandIn):
                continue
            kept = self.stand_ins.get((id(owner), name))
            if kept is None or kept[0] is not old:
                call = _Call(line)
                new = _StandIn(old, call) if isinstance(old, type) else _asking(old, call)
                kept = self.stand_ins[id(owner), name] = old, new
            try:
                setattr(owner, name, kept[1])
            except (AttributeError, TypeError):
                continue  # a type of C's own, which cannot be changed
            self.replaced.append((owner, name, *kept))

    def _rename(self, variables: dict[str, Any], others: dict[int, Any]) -> None:
        """Names that ``from … import …`` bound mean the other function, too."""
        if others:
            for name, value in list(variables.items()):
                other = others.get(id(value))
                if other is not None:
                    variables[name] = other

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As a finder of modules: one that is loaded in a run is replaced once it is."""
        if name not in self.calls:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self)
                return spec
        return None

    # -- what a call means ---------------------------------------------------------------------

    def on_call(self, guard: Any, run: Any, args: tuple[Any, ...]) -> None:
        """Ask about what a function of the table is about to do. Raises ``PermissionError``."""
        call, values, options = args
        target = call.target(values, options)
        getattr(self, call.act)(guard, run, call, target, values, options)

    def writes(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        self._open(guard, run, target, "w")

    def appends(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        self._open(guard, run, target, "a")

    def opens(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        mode, default = call.option(values, options)
        mode = mode if isinstance(mode, str) else default
        if mode[:1] == "r" and "+" not in mode and "w" not in mode:
            self.sources(guard, run, call, target, values, options)
        elif mode[:1] == "x" or "-" in mode:
            self._open(guard, run, target, mode, os.O_EXCL)
        else:
            self._open(guard, run, target, "w" if mode[:1] in "wn" else "a")

    def fills(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        mode, default = call.option(values, options)
        self._fill(guard, run, target, fails=mode in (default, None))

    def sources(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        for each in target if isinstance(target, (list, tuple, set)) else [target]:
            path = _path(each)
            if path is not None and not _is_elsewhere(guard, run, path):
                guard.check_private(run, path)

    def dials(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        text = os.fsdecode(target) if isinstance(target, (str, bytes)) else ""
        if "://" in text and not text.startswith(("tcp://", "postgres", "mysql", "http")):
            return  # within the process, or by a file of this machine
        host, port = _host(text, options)
        if host is None and not call.rest:
            return
        guard.on_connect(run, (None, (host or call.rest, port)))

    def enters(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        guard.on_interpreter(run, ())

    def runs(
        self, guard: Any, run: Any, call: _Call, target: Any, values: Any, options: Any
    ) -> None:
        text = getattr(target, "query", target)
        if not isinstance(text, str):
            return
        lower = text.lower()
        if not any(each in lower for each in _SQL_WORDS):
            return
        if len(text) > _LONGEST_SQL:
            target = f"SQL of {len(text):,} characters"
            guard.ask(run, "changes a database", "execute", target, "which is too long to check")
            run.allowed.discard(("execute", target))  # another of that length is not the same
            return
        connection = values[0] if "." in call.function else options.get("connection")
        parameters = [
            each
            for value in [*values[call.at + 1 :], *options.values()]
            for each in (value.values() if isinstance(value, dict) else _items(value))
            if isinstance(each, str)
        ]
        for words in _statements(text):
            self._statement(guard, run, words, parameters, connection)

    def _statement(
        self, guard: Any, run: Any, words: list[tuple[str, str]], parameters: list[str], of: Any
    ) -> None:
        kinds = [word.lower() if kind == "word" else "" for kind, word in words]
        first = kinds[0]
        if first in ("with", "explain"):
            first = next((each for each in kinds[1:] if each in (*_SQL_LOSSES, "copy")), first)
        texts = [word if kind == "text" else None for kind, word in words]
        if first == "copy" and "to" in kinds:
            after = len(kinds) - 1 - kinds[::-1].index("to") + 1
            for each in _named(texts[after : after + 1], parameters):
                if "partition_by" in kinds[after:]:
                    self._fill(guard, run, each, fails=not any("overwrite" in k for k in kinds))
                else:
                    self._open(guard, run, each, "w")
        elif first == "export":
            for each in _named([next((t for t in texts if t is not None), None)], parameters):
                self._fill(guard, run, each, fails=False)
        elif first == "attach":
            for each in _named([next((t for t in texts if t is not None), None)], parameters):
                self._attach(guard, run, each)
        elif first == "install":
            guard.ask_host(run, "extensions.duckdb.org", f"to install {words[-1][1]}")
        elif first in _SQL_LOSSES or (
            kinds[:3] == ["create", "or", "replace"] and not _OF_THE_PROCESS & set(kinds[3:4])
        ):
            verb = _SQL_LOSSES.get(first, "replace a part of")
            for path in map(os.path.realpath, _files(of)):
                if not guard.is_free_database(path):
                    guard.ask(run, "changes a database", verb, path)
        reads = False
        for kind, text in zip(kinds, texts, strict=True):
            if kind in _READS_FROM:
                reads = True
            elif kind in _READS_TO:
                reads = False
            elif reads and text is not None:
                _is_elsewhere(guard, run, text)
            elif reads and kind == "?":
                for each in parameters:
                    _is_elsewhere(guard, run, each)

    def _attach(self, guard: Any, run: Any, text: str) -> None:
        name = text.split(":", 1)[1] if text.startswith(("sqlite:", "duckdb:")) else text
        if name in ("", ":memory:") or _is_elsewhere(guard, run, name):
            return
        if "=" in name:  # of another database server
            host, port = _host(name.split(":", 1)[-1], {})
            guard.on_connect(run, (None, (host or "localhost", port)))
            return
        path = os.path.realpath(name)
        if not guard.is_free_database(path):
            guard.ask(run, "changes a database", "attach", path)

    def _open(self, guard: Any, run: Any, target: Any, mode: str, flags: int = 0) -> None:
        path = _path(target)
        if path is None or _is_elsewhere(guard, run, path):
            return
        flags |= os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if mode[:1] == "w" else 0)
        guard.check_write(run, path, mode, flags)

    def _fill(self, guard: Any, run: Any, target: Any, fails: bool) -> None:
        path = _path(target)
        if path is None or _is_elsewhere(guard, run, path):
            return
        path = os.path.realpath(path)
        try:
            is_empty = not os.listdir(path)
        except OSError:
            guard.create(run, path)
            return
        if not (fails or is_empty or guard.is_free(path)):
            guard.ask(run, "overwrites files", "overwrite files in", path)


def _asking(old: Any, call: _Call) -> Any:
    """The function, which raises our event first."""

    @functools.wraps(old)
    def function(*args: Any, **options: Any) -> Any:
        sys.audit(EVENT, call, args, options)
        if call.act != "runs":
            return old(*args, **options)
        # SQL may name variables of whoever calls, which DuckDB looks for in the frame that does.
        frame = sys._getframe(1)
        caller = {**frame.f_locals, "_datalayer_agent": functools.partial(old, *args, **options)}
        return eval(_CALL, frame.f_globals, caller)

    return function


_CALL = compile("_datalayer_agent()", "<datalayer agent>", "eval")


class _StandIn:
    """For a type of C's own, whose methods cannot be replaced: to make one raises our event. It
    looks like the type, and its instances are instances of it."""

    def __init__(self, old: type, call: _Call) -> None:
        self._old = old
        self._call = call

    def __call__(self, *args: Any, **options: Any) -> Any:
        sys.audit(EVENT, self._call, args, options)
        return self._old(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._old, name)

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (self._old,)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._old)

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, self._old)

    def __eq__(self, other: Any) -> bool:
        return other is self or other is self._old

    def __hash__(self) -> int:
        return hash(self._old)

    def __repr__(self) -> str:
        return repr(self._old)

    def __reduce__(self) -> Any:
        return getattr, (sys.modules[self._old.__module__], self._old.__qualname__)


class _Loader:
    """Loads a module as its own loader does, and has its functions replaced then."""

    def __init__(self, loader: Any, calls: NativeCalls) -> None:
        self._loader = loader
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        create = getattr(self._loader, "create_module", None)
        return None if create is None else create(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        if self._calls.active:
            self._calls.replace(sys.modules.get(module.__name__, module))


def _path(target: Any) -> str | None:
    """The path of a target; None of what is open already."""
    if isinstance(target, (str, bytes, os.PathLike)):
        return os.fsdecode(target).removeprefix("file://") or None
    return None


def _is_elsewhere(guard: Any, run: Any, path: str) -> bool:
    """Whether this is at an address, about which is asked."""
    scheme, mark, rest = path.partition("://")
    if not mark or not scheme.isalnum():
        return False
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2]
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if scheme in ("http", "https", "ftp") and name in ("localhost", "127.0.0.1", "[::1]"):
        port = host.rpartition(":")[2]
        guard.on_connect(run, (None, (name.strip("[]"), int(port) if port.isdigit() else 80)))
    else:
        is_web = scheme in ("http", "https", "ftp")
        guard.ask_host(run, host if is_web else f"{scheme}://{host}")
    return True


def _host(text: str, options: dict[str, Any]) -> tuple[str | None, Any]:
    """The machine and the port of an address or of a text with ``host=`` and ``port=``."""
    parts = {name: value for name, value in options.items() if isinstance(value, (str, int))}
    if "://" in text:
        host, _, port = text.partition("://")[2].split("/")[0].rpartition("@")[2].rpartition(":")
        host, port = (host, port) if port.isdigit() else (f"{host}:{port}".strip(":"), "")
        parts = {"host": host.strip("[]"), "port": port, **parts}
    elif "=" in text:
        pairs = (each.partition("=") for each in text.replace(";", " ").split())
        parts = {**{name.lower(): value.strip("'{}") for name, _, value in pairs}, **parts}
    elif text:
        parts = {"host": text, **parts}
    names = ("hostaddr", "host", "server", "endpoint_override")
    found = next((str(parts[each]) for each in names if parts.get(each)), None)
    port = str(parts.get("port", ""))
    return found, int(port) if port.isdigit() else "of a database"


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _named(texts: list[str | None], parameters: list[str]) -> list[str]:
    """The constant that names a target; all parameters where it may be one of them."""
    return [each for text in texts for each in ([text] if text is not None else parameters)]


def _files(connection: Any) -> list[str]:
    """The files of the databases that a connection has open."""
    try:
        of = sys.modules["duckdb"] if connection is None else connection
        cursor = of.cursor()
        try:
            rows = cursor.execute("SELECT path FROM duckdb_databases() WHERE NOT internal")
            return [each[0] for each in rows.fetchall() if each[0]]
        finally:
            cursor.close()
    except Exception:  # noqa: BLE001
        return []  # a closed one, of which the call itself will say so


def _statements(text: str) -> Iterator[list[tuple[str, str]]]:
    """The words, constants and signs of each statement, as DuckDB itself divides them: a constant
    is (``text``, its value)."""
    tokens = sys.modules["duckdb"].tokenize(text)
    whole = text.encode("utf-8", "surrogatepass")
    ends = [each[0] for each in tokens[1:]] + [len(whole)]
    names: dict[Any, str] = {}
    statement: list[tuple[str, str]] = []
    for (start, kind), end in zip(tokens, ends, strict=True):
        part = whole[start:end].decode("utf-8", "replace").strip()
        name = names.get(kind)
        if name is None:
            name = names[kind] = str(kind).rpartition(".")[2]
        if name == "comment":
            continue
        if part == ";":
            if statement:
                yield statement
            statement = []
        elif name == "string_const":
            statement.append(("text", _constant(part)))
        elif part[:1] == '"':
            # A name in quotes; after FROM it may be a file.
            statement.append(("text", part.strip('"')))
        else:
            sign = "?" if part[:1] in "?$" else part
            statement.append(("word", sign))
    if statement:
        yield statement


def _constant(part: str) -> str:
    start = part.find("'")
    if part[:1] == "$":
        return part.strip("$")
    end = part.rfind("'")
    return part[start + 1 : end].replace("''", "'") if 0 <= start < end else part
