"""What expressions of a cell may evaluate to, as far as its source shows: names of functions, and
paths. Nothing is run.

Order and scopes are ignored: a name may have any value that is assigned anywhere in the cell, or,
without one, in the notebook's other cells. A name with two values counts as both, which errs on the
side of asking.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...notebook.paths import name_set
from .place import FRESH, WILD

# Names by which notebooks call modules and functions that another cell (or nobody yet) imports.
_CUSTOMARY = {
    "np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "sp": "subprocess",
    "Path": "pathlib.Path", "rmtree": "shutil.rmtree", "copyfile": "shutil.copyfile",
    "Popen": "subprocess.Popen", "check_output": "subprocess.check_output",
    "check_call": "subprocess.check_call", "imwrite": "cv2.imwrite", "sio": "scipy.io",
    "iio": "imageio", "pq": "pyarrow.parquet", "urlretrieve": "urllib.request.urlretrieve",
    "pio": "plotly.io", "tf": "tensorflow", "nx": "networkx", "sf": "soundfile",
    "nib": "nibabel",
}  # fmt: skip
# Other names of the same thing.
_SAME = {"posix": "os", "nt": "os", "_io": "io", "builtins.open": "open", "io.open": "open",
         "builtins.exec": "exec", "builtins.eval": "eval"}  # fmt: skip
_PATHS = {"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath",
          "pathlib.WindowsPath", "anyio.Path", "upath.UPath", "cloudpathlib.CloudPath"}  # fmt: skip
# Functions that give their argument back, and methods that give the path or text itself.
_UNCHANGED = name_set(
    "str os.fspath os.path.abspath os.path.realpath os.path.normpath os.path.expanduser text "
    "sqlalchemy.text"
)
_SAME_PATH = name_set("resolve absolute expanduser as_posix strip encode")
_LISTING = frozenset({"glob", "rglob", "iterdir", "walk"})
_BUFFERS = name_set("io.BytesIO io.StringIO BytesIO StringIO")
_FIELD = re.compile(r"\{[^{}]*\}")
_PERCENT = re.compile(r"%(\(\w+\))?[-#0 +]*(?:\*|[1-9]\d*)?(\.(?:\*|\d+))?[a-zA-Z]")
_MOST_VALUES = 8
_DEEPEST = 40


@dataclass(frozen=True)
class Ref:
    """A module, a function, a class (``os.remove``), or what a call of one gave
    (``requests.Session()``)."""

    name: str


@dataclass(frozen=True)
class TextValue:
    """A text, or a path object: ``WILD`` is what only a run would show."""

    text: str
    is_path: bool = False


Value = Ref | TextValue
UNKNOWN = Ref("?")
BUFFER = Ref("buffer")
MEMORY = Ref("memory database")
_Bound = ast.expr | Value


@dataclass(frozen=True)
class _Each:
    """One of the elements of an iterable."""

    of: ast.expr


class Values:
    """The values of expressions of one tree.

    ``others`` finds the trees that give a name a value which this one does not.
    """

    def __init__(
        self, tree: ast.AST, others: Callable[[str], Sequence[Values]] = lambda name: ()
    ) -> None:
        self._own: dict[str, list[_Bound | _Each]] = {}
        self.stars: list[str] = []
        self._others = others
        self._known: dict[int, tuple[Value, ...]] = {}
        self._busy: set[str] = set()
        for node in ast.walk(tree):
            self._bind(node)

    # What gives names their values

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                self._add(alias.asname or whole, Ref(whole))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    self.stars.append(node.module or "")
                else:
                    self._add(alias.asname or alias.name, Ref(f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if node.value is not None:
                self._assign(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, ast.BinOp(node.target, node.op, node.value))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._assign(node.target, _Each(node.iter))
        elif isinstance(node, ast.withitem):
            if node.optional_vars is not None:
                self._assign(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._add(node.name, UNKNOWN)
        elif isinstance(node, ast.arguments):
            self._parameters(node)

    def _add(self, name: str, value: _Bound | _Each) -> None:
        self._own.setdefault(name, []).append(value)

    def _assign(self, target: ast.AST, value: _Bound | _Each) -> None:
        if isinstance(target, ast.Name):
            self._add(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            values: Iterable[_Bound | _Each] = [UNKNOWN] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                values = value.elts
            for each, part in zip(target.elts, values, strict=True):
                self._assign(each, part)

    def _parameters(self, node: ast.arguments) -> None:
        named = [*node.posonlyargs, *node.args]
        pairs = zip(reversed(named), reversed(node.defaults), strict=False)
        defaults = {each.arg: default for each, default in pairs}
        for each in [*named, *node.kwonlyargs]:
            self._add(each.arg, UNKNOWN)
        for name, value in defaults.items():
            self._add(name, value)

    # What expressions evaluate to

    def of(self, node: ast.AST, depth: int = 0) -> tuple[Value, ...]:
        """What the expression may evaluate to; ``UNKNOWN`` among it where that is not known."""
        if depth > _DEEPEST:
            return (UNKNOWN,)
        known = self._known.get(id(node))
        if known is None:
            known = tuple(dict.fromkeys(self._of(node, depth + 1)))[:_MOST_VALUES] or (UNKNOWN,)
            self._known[id(node)] = known
        return known

    def _of(self, node: ast.AST, depth: int) -> Iterator[Value]:
        if isinstance(node, ast.Constant):
            yield _constant(node.value)
        elif isinstance(node, ast.Name):
            yield from self.of_name(node.id, depth)
        elif isinstance(node, ast.Attribute):
            for value in self.of(node.value, depth):
                yield _attribute(value, node.attr)
        elif isinstance(node, ast.JoinedStr):
            yield TextValue("".join(self.text_of(each, depth) for each in node.values))
        elif isinstance(node, ast.FormattedValue):
            yield from self.of(node.value, depth)
        elif isinstance(node, ast.BinOp):
            yield from self._operation(node, depth)
        elif isinstance(node, ast.Call):
            yield from self._call(node, depth)
        elif isinstance(node, ast.IfExp):
            yield from self.of(node.body, depth)
            yield from self.of(node.orelse, depth)
        elif isinstance(node, ast.BoolOp):
            for each in node.values[:_MOST_VALUES]:
                yield from self.of(each, depth)
        elif isinstance(node, ast.Await | ast.NamedExpr | ast.Starred):
            yield from self.of(node.value, depth)
        elif isinstance(node, ast.Subscript):
            yield from self._item(node, depth)

    def text_of(self, node: ast.expr, depth: int = 0) -> str:
        """The one text that the expression evaluates to; else ``WILD``."""
        values = self.of(node, depth)
        value = values[0] if len(values) == 1 else UNKNOWN
        return value.text if isinstance(value, TextValue) else WILD

    def of_name(self, name: str, depth: int = 0) -> Iterator[Value]:
        """The value of a name: here, else in the other cells, else by custom."""
        if name in self._busy:
            yield UNKNOWN
            return
        self._busy.add(name)
        try:
            given = list(self._given(name, depth))
        finally:
            self._busy.discard(name)
        others = self._others(name) if not given and depth <= _DEEPEST else ()
        for other in others:
            given += other.of_name(name, depth + 1) if name in other._own else ()
        yield from given or [Ref(_CUSTOMARY.get(name, name))]
        for each in (self, *others):
            yield from (Ref(f"{star}.{name}") for star in each.stars)

    def _given(self, name: str, depth: int) -> Iterator[Value]:
        for bound in self._own.get(name, [])[:_MOST_VALUES]:
            if isinstance(bound, Ref | TextValue):
                yield bound
            elif isinstance(bound, _Each):
                yield from self._elements(bound.of, depth)
            else:
                yield from self.of(bound, depth)

    def _elements(self, node: ast.expr, depth: int) -> Iterator[Value]:
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            for each in node.elts[:_MOST_VALUES]:
                yield from self.of(each, depth)
            if len(node.elts) > _MOST_VALUES:
                yield UNKNOWN
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield TextValue(WILD, is_path=True) if node.func.attr in _LISTING else UNKNOWN
        else:
            yield UNKNOWN

    def _operation(self, node: ast.BinOp, depth: int) -> Iterator[Value]:
        right = self.of(node.right, depth)[0]
        after = right.text if isinstance(right, TextValue) else WILD
        for left in self.of(node.left, depth):
            before = left.text if isinstance(left, TextValue) else WILD
            if isinstance(node.op, ast.Div):
                if isinstance(right, TextValue) or (isinstance(left, TextValue) and left.is_path):
                    yield TextValue(posixpath.join(before, after), is_path=True)
            elif isinstance(node.op, ast.Add) and before + after != WILD + WILD:
                yield TextValue(before + after)
            elif isinstance(node.op, ast.Mod) and isinstance(left, TextValue):
                yield TextValue(_PERCENT.sub(WILD, before))

    def _item(self, node: ast.Subscript, depth: int) -> Iterator[Value]:
        key = self.of(node.slice, depth)[0]
        for value in self.of(node.value, depth):
            modules = isinstance(value, Ref) and value.name == "sys.modules"
            yield Ref(key.text) if modules and isinstance(key, TextValue) else UNKNOWN

    def _call(self, node: ast.Call, depth: int) -> Iterator[Value]:
        for function in self.of(node.func, depth):
            if isinstance(function, TextValue):
                yield UNKNOWN
            elif function.name.startswith("."):
                yield from self._method(node, function.name[1:], depth)
            else:
                yield self._result(node, canonical(function.name), depth)

    def _method(self, node: ast.Call, name: str, depth: int) -> Iterator[Value]:
        """What a method of a text or a path gives."""
        assert isinstance(node.func, ast.Attribute)
        given = self._argument(node, 0, depth)
        for value in self.of(node.func.value, depth):
            if not isinstance(value, TextValue):
                continue
            text = value.text
            if name == "joinpath":
                yield TextValue(posixpath.join(text, *self._texts(node, depth)), is_path=True)
            elif name == "with_suffix":
                yield TextValue(posixpath.splitext(text)[0] + given, is_path=True)
            elif name in ("with_name", "with_stem"):
                yield TextValue(posixpath.join(posixpath.dirname(text), given), is_path=True)
            elif name == "format":
                yield TextValue(_FIELD.sub(WILD, text))
            elif name == "replace" and not value.is_path:
                yield TextValue(WILD)
            elif name in _SAME_PATH:
                yield value

    def _result(self, node: ast.Call, name: str, depth: int) -> Value:
        """What a call of a function of that name gives."""
        if name in _PATHS:
            return TextValue(posixpath.join("", *self._texts(node, depth)), is_path=True)
        if name == "os.path.join":
            return TextValue(posixpath.join("", *self._texts(node, depth)))
        if name in _UNCHANGED and node.args:
            return self.of(node.args[0], depth)[0]
        if name in ("pathlib.Path.cwd", "os.getcwd"):
            return TextValue(".", is_path=name.startswith("p"))
        if name == "pathlib.Path.home":
            return TextValue(os.path.expanduser("~"), is_path=True)
        if name in ("importlib.import_module", "__import__"):
            module = self._argument(node, 0, depth)
            return Ref(module.partition(".")[0] if name == "__import__" else module)
        if name == "getattr" and len(node.args) > 1:
            attribute = self._argument(node, 1, depth)
            return _attribute(self.of(node.args[0], depth)[0], attribute)
        if name.startswith("tempfile.") and name != "tempfile.gettempdir":
            return TextValue(FRESH)
        if name in _BUFFERS:
            return BUFFER
        if self._in_memory(node, name, depth):
            return MEMORY
        return Ref(f"{name}()")

    def _in_memory(self, node: ast.Call, name: str, depth: int) -> bool:
        if name == "duckdb.connect" and not (node.args or node.keywords):
            return True
        if name not in ("sqlite3.connect", "duckdb.connect", "sqlalchemy.create_engine"):
            return False
        return self._argument(node, 0, depth) in (":memory:", "sqlite://", "sqlite:///:memory:")

    def _argument(self, node: ast.Call, place: int, depth: int) -> str:
        if place >= len(node.args):
            return WILD
        return self.text_of(node.args[place], depth)

    def _texts(self, node: ast.Call, depth: int) -> list[str]:
        return [self.text_of(each, depth) for each in node.args]


def canonical(name: str) -> str:
    """One name for each thing: ``os.remove`` for ``posix.remove``."""
    module, dot, rest = name.partition(".")
    name = _SAME.get(module, module) + dot + rest
    return _SAME.get(name, name)


def _constant(value: object) -> Value:
    if isinstance(value, bytes):
        return TextValue(value.decode("utf-8", "replace"))
    return TextValue(value) if isinstance(value, str) else UNKNOWN


def _attribute(value: Value, name: str) -> Value:
    if isinstance(value, Ref):
        if value == UNKNOWN:
            return UNKNOWN
        inner = value in (BUFFER, MEMORY)
        return value if inner else Ref(f"{value.name}.{name}")
    if name == "parent":
        return TextValue(posixpath.dirname(value.text) or ".", is_path=True)
    return TextValue(posixpath.basename(value.text)) if name == "name" else Ref(f".{name}")
