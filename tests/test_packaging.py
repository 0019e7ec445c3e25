"""The distribution as it is installed: `make test` installs the wheel before it runs these."""

import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import nbformat
import pytest

import jupyter_datalayer_agent

ROOT = Path(__file__).parent.parent


def installed(suffix: str) -> Path:
    """The file of the installed distribution whose path ends so."""
    files = distribution("jupyter-datalayer-agent").files or []
    [found] = [file for file in files if file.as_posix().endswith(suffix)]
    return Path(str(found.locate()))


def test_python_and_typescript_have_the_same_version() -> None:
    package = json.loads((ROOT / "labextension/package.json").read_text())
    assert package["version"] == jupyter_datalayer_agent.__version__


def test_importing_the_package_imports_nothing_but_its_version() -> None:
    before_and_after = (
        "import sys, typing; before = set(sys.modules); import jupyter_datalayer_agent;"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", before_and_after],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["jupyter_datalayer_agent", "jupyter_datalayer_agent._version"]


def test_the_wheel_enables_the_server_extension() -> None:
    config = json.loads(
        installed("etc/jupyter/jupyter_server_config.d/jupyter_datalayer_agent.json").read_text()
    )
    assert config == {"ServerApp": {"jpserver_extensions": {"jupyter_datalayer_agent": True}}}


def test_the_wheel_holds_the_built_labextension() -> None:
    manifest = installed("share/jupyter/labextensions/jupyter-datalayer-agent/package.json")
    entry = json.loads(manifest.read_text())["jupyterlab"]["_build"]["load"]
    assert (manifest.parent / entry).is_file()
    assert (manifest.parent / "install.json").is_file()
    assert (manifest.parent / "schemas/jupyter-datalayer-agent/plugin.json").is_file()


def module_of(path: str) -> Any:
    """A file that is in no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ((18, 20), False),
        ((20, 18), False),
        ((20, 19), True),
        ((21, 7), False),
        ((22, 11), False),
        ((22, 12), True),
        ((24, 0), True),
    ],
)
def test_the_build_takes_a_node_that_the_bundler_can_use(
    version: tuple[int, int], enough: bool
) -> None:
    package = json.loads((ROOT / "labextension/package.json").read_text())
    assert package["engines"]["node"] == "^20.19.0 || >=22.12.0"
    assert module_of("hatch_build.py").node_is_new_enough(*version) is enough


def test_the_build_completes_the_licences_and_leaves_out_the_developers_package_json(
    tmp_path: Path,
) -> None:
    hatch_build = module_of("hatch_build.py")
    texts, output = tmp_path / "labextension/licenses", tmp_path / hatch_build.OUTPUT
    for folder in (texts / "@jupyter", output / "static", output / "schemas/agent"):
        folder.mkdir(parents=True)
    (texts / "@jupyter/chat.txt").write_text("BSD 3-Clause License")
    (output / "schemas/agent/package.json.orig").write_text("{}")
    bundled = output / "static/third-party-licenses.json"
    react = {"name": "react", "extractedText": "MIT License"}
    bundled.write_text(json.dumps({"packages": [react, {"name": "@jupyter/chat"}]}))
    hook = hatch_build.LabextensionHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
    for source in hatch_build.SOURCES:
        (tmp_path / "labextension" / source).touch()
    (output / "sources.sha256").write_text(hook._digest())
    hook.initialize("standard", {})
    packages = json.loads(bundled.read_text())["packages"]
    assert [each["extractedText"] for each in packages] == ["MIT License", "BSD 3-Clause License"]
    assert not list(output.rglob("*.orig"))
    bundled.write_text(json.dumps({"packages": [{"name": "new", "extractedText": " "}]}))
    with pytest.raises(ValueError, match="new has no licence text"):
        hook.initialize("standard", {})


def test_a_wheel_with_tests_secrets_or_without_licences_is_refused(tmp_path: Path) -> None:
    check = module_of("scripts/check_wheel.py")
    package, info = "jupyter_datalayer_agent", "jupyter_datalayer_agent-1.dist-info"
    metadata = "Metadata-Version: 2.4\nName: jupyter-datalayer-agent\nVersion: 1\n\nWords."
    licenses = f"{package}-1.data/data/static/third-party-licenses.json"
    react = {"name": "react", "licenseId": "MIT", "extractedText": "MIT License"}
    right = {
        f"{package}/app.py": "",
        f"{info}/METADATA": metadata,
        f"{info}/licenses/LICENSE": "BSD",
        licenses: json.dumps({"packages": [react]}),
    }
    wrong = {
        "not for users": {f"{package}/tests/test_app.py": ""},
        "is not for users": {f"{package}/package.json.orig": ""},
        "outside of the package": {"tests.py": ""},
        "a private key": {f"{package}/app.py": "-----BEGIN PRIVATE" + " KEY-----"},
        "the licence of react is incomplete": {
            licenses: json.dumps({"packages": [{**react, "extractedText": " "}]})
        },
        "no description": {f"{info}/METADATA": metadata.removesuffix("Words.")},
    }
    for number, (words, change) in enumerate([("", {}), *wrong.items()]):
        wheel = tmp_path / f"{number}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in {**right, **change}.items():
                archive.writestr(name, text)
        found = list(check._wrong_in_wheel(wheel))
        assert len(found) == bool(words), found
        assert all(words in each for each in found)


def test_the_example_is_a_valid_notebook_that_uses_the_data_beside_it() -> None:
    notebook = nbformat.read(ROOT / "examples/cars.ipynb", as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    [name] = re.findall(r'read_csv\("(.+?)"\)', code)
    assert (ROOT / "examples" / name).is_file()


def test_a_user_sees_no_image_in_the_readme_that_is_not_there() -> None:
    for target in re.findall(r"!\[.*?\]\((.+?)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).is_file(), target


def test_the_wheel_holds_the_command() -> None:
    script = Path(sys.executable).parent / "jupyter-datalayer-agent"
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == jupyter_datalayer_agent.__version__
