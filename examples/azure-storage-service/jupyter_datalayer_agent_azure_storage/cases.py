"""Benchmark cases: what ``/storage`` should understand when it has its actions.

No account is asked what there is in it, so without a model most names are not found.
"""

from __future__ import annotations

from jupyter_datalayer_agent.services.benchmarks import Case, CasesOf
from jupyter_datalayer_agent.services.builtin.cases.storage import CASES as KNOWN

_OF = CasesOf("storage", ("cars.ipynb", "cars.csv", "makers.csv"))


def cases() -> list[Case]:
    """Those of ``Service.cases``: the known ones, which must stay right, and those of actions."""
    return [
        *KNOWN,
        _OF.case("azure-list", "routing", "/storage list the containers", "list-containers"),
        _OF.case(
            "azure-create", "parameters", "/storage create a container called reports",
            "create-container", container="reports",
        ),
        _OF.case(
            "azure-create-open", "open", "/storage create a container", "create-container",
            missing=["container"],
        ),
        _OF.case(
            "azure-blobs", "parameters", "/storage list the blobs in the container reports",
            "list-blobs", container="reports",
        ),
        _OF.case(
            "azure-upload", "parameters", "/storage upload cars.csv to the container reports",
            "upload", missing=["blob"], file="cars.csv", container="reports",
        ),
        _OF.case(
            "azure-upload-routed", "routing", "Upload cars.csv to the Azure container reports",
            "upload", file="cars.csv",
        ),
        _OF.case(
            "azure-upload-open", "open", "/storage upload the file to the container reports",
            "upload", missing=["file"], container="reports",
        ),
        _OF.case(
            "azure-upload-gone", "open", "/storage upload trains.csv to the container reports",
            "upload", missing=["file"],
        ),
        _OF.case(
            "azure-download", "parameters",
            "/storage download sales.csv from the container reports", "download",
            container="reports", blob="sales.csv",
        ),
        _OF.case(
            "azure-download-open", "open", "/storage download a blob", "download",
            missing=["container", "blob", "to"],
        ),
        _OF.case(
            "azure-copy", "parameters",
            "/storage copy the blob sales.csv from the container reports to a data set",
            "copy-to-dataset", missing=["name"], container="reports", blob="sales.csv",
        ),
        _OF.case(
            "azure-delete", "parameters",
            "/storage delete the blob old.csv from the container reports", "delete-blob",
            container="reports", blob="old.csv",
        ),
        _OF.case(
            "azure-delete-container", "parameters", "/storage delete the container reports",
            "delete-container", container="reports",
        ),
        _OF.case("azure-learn", "routing", "/storage how are containers named?", "learn"),
        _OF.case(
            "azure-ideas", "routing", "/storage which access tier is better for old blobs?",
            "brainstorm",
        ),
        _OF.case(
            "azure-misspelt", "misspelt", "/storage uplaod cars.csv to the contianer reports",
            "upload", file="cars.csv",
        ),
        _OF.case(
            "azure-german", "language", "/storage lade cars.csv in den Container reports hoch",
            "upload", file="cars.csv",
        ),
        _OF.case(
            "azure-french", "language", "/storage supprime le conteneur reports",
            "delete-container",
        ),
        _OF.case(
            "azure-two", "two",
            "/storage upload cars.csv to the container reports and export the notebook as HTML",
            "upload", file="cars.csv",
        ),
        _OF.case(
            "azure-history", "history", "no, makers.csv", "upload",
            history=["/storage upload cars.csv to the container reports"], file="makers.csv",
            container="reports",
        ),
        _OF.ordinary("azure-not-delete", "Delete the file cars.csv"),
        _OF.ordinary("azure-not-download", "Download the data set and plot it"),
        _OF.ordinary("azure-not-list", "List the keys of the dictionary"),
        _OF.ordinary("azure-not-upload", "Why does the upload in cell 3 fail?"),
    ]  # fmt: skip
