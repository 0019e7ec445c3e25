"""``/storage``: what the agent knows of Azure Blob Storage."""

from __future__ import annotations

from ..service import Link, Service, ServiceConfig

# ``/storage``: Azure Blob Storage. Its actions come with a package of their own.


PACKAGE = "jupyter-datalayer-agent-azure-storage"

_CONTEXT = """
# Accounts, containers, blobs
A storage account holds containers, and a container holds blobs (files). There are no folders: a
slash in a blob's name is shown as one.

# Names
A container's name has 3 to 63 lower-case letters, digits and hyphens, begins and ends with a letter
or a digit, and has no two hyphens in a row. A blob's name has at most 1,024 characters.

# Credentials
A connection string opens the whole account. Set it in the server's environment as
`AZURE_STORAGE_CONNECTION_STRING`, or give it in the form, where it is used once and not kept. For
somebody else, a shared access signature (SAS) opens less: one container, for some hours, to read.

# Access tiers
Hot costs most to keep and least to read; cool is meant for data kept at least 30 days, cold for 90,
archive for 180. A blob in the archive must be rehydrated, which takes hours, before it can be read.

# Redundancy
LRS keeps three copies in one data centre, ZRS in three zones of a region, GRS also in a second
region. More copies cost more and are no backup: what is deleted is deleted in all of them.

# Deleting
A deleted blob is gone unless soft delete or versioning is on for the account. Both cost what the
kept versions take.

# Large files
Upload large files as Parquet rather than CSV: they are smaller, and columns can be read by
themselves. A blob can be read in parts, so DuckDB or pandas need not download all of it.
"""

SERVICE = Service(
    id="storage",
    name="Azure Blob Storage",
    description="Containers and blobs: list, upload, download, copy to a data set, delete.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[
            Link("Azure Blob Storage", "https://learn.microsoft.com/azure/storage/blobs/"),
            Link(
                "Access tiers",
                "https://learn.microsoft.com/azure/storage/blobs/access-tiers-overview",
            ),
        ],
        topics=["Azure", "blob", "blobs", "container", "containers", "storage account", "bucket"],
        questions=[
            "How often is the data read, and how soon must it be there?",
            "Who else needs it, and for how long?",
        ],
    ),
    examples=[
        "Upload cars.csv to Azure",
        "Download a blob from the container",
        "Which access tier is right for old blobs?",
    ],
    actions_from=PACKAGE,
)
