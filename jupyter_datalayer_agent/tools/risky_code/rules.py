"""The functions and methods of Python that act beyond the kernel, and where their target is.

Functions are known by their full name, whatever they are called in the cell; methods by their last
name, since an object's type is seldom visible in the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...notebook.name_set import name_set

What = Literal[
    "remove", "move", "copy", "write", "open", "truncate", "run", "end", "send", "sql", "table",
    "execute",
]  # fmt: skip


@dataclass(frozen=True)
class CallRule:
    """``at``: the place of the argument that names the target; -1 for the object itself.

    ``keyword``: its name. ``mode``: where an ``open`` has its mode, and ``default`` that mode.
    ``ending``: what is added to a name without it.
    """

    what: What
    at: int = 0
    keyword: str = ""
    mode: int = 1
    default: str = "r"
    ending: str = ""


FUNCTIONS: dict[str, CallRule] = {}
METHODS: dict[str, CallRule] = {}


def _functions(rule: CallRule, names: str, prefix: str = "") -> None:
    FUNCTIONS.update((prefix + name, rule) for name in name_set(names))


def _methods(rule: CallRule, names: str) -> None:
    METHODS.update((name, rule) for name in name_set(names))


_functions(CallRule("remove", 0, "path"), "remove unlink rmdir removedirs", "os.")
_functions(
    CallRule("remove", 0, "path"),
    "shutil.rmtree send2trash.send2trash send2trash pathlib.Path.unlink pathlib.Path.rmdir",
)
_functions(
    CallRule("move", 0, "src"), "os.rename os.renames os.replace shutil.move pathlib.Path.rename"
)
_functions(CallRule("truncate", 0, "path"), "os.truncate")
_functions(CallRule("copy", 1, "dst"), "copy copy2 copyfile copytree", "shutil.")
_functions(
    CallRule("run", 0, "args"),
    "run call check_call check_output Popen getoutput getstatusoutput",
    "subprocess.",
)
_functions(
    CallRule("run", 0, "command"),
    "system popen execl execle execlp execlpe execv execve execvp execvpe posix_spawn posix_spawnp "
    "startfile",
    "os.",
)
_functions(
    CallRule("run", 1),
    "spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe",
    "os.",
)
_functions(
    CallRule("run", 0, "cmd"),
    "asyncio.create_subprocess_exec asyncio.create_subprocess_shell pty.spawn pexpect.spawn "
    "pexpect.run get_ipython().system get_ipython().getoutput get_ipython().system_piped "
    "get_ipython().system_raw get_ipython().getoutput",
)
_functions(CallRule("end"), "os.kill os.killpg")
_functions(
    CallRule("send", 0, "url"),
    " ".join(f"{module}.{verb}" for module in ("requests", "httpx", "requests.Session()",
             "requests.session()", "httpx.Client()", "httpx.AsyncClient()",
             "aiohttp.ClientSession()") for verb in ("post", "put", "patch", "delete")),
)  # fmt: skip
_functions(
    CallRule("send"),
    "upload_file upload_folder upload_large_folder delete_repo delete_file delete_folder",
    "huggingface_hub.",
)
_functions(CallRule("execute"), "exec eval")

# Files
_functions(CallRule("open", 0, "file"), "open pathlib.Path.open codecs.open")
_functions(CallRule("open", 0, "filename"), "gzip.open bz2.open lzma.open tarfile.open")
_functions(
    CallRule("open", 0, "name"), "h5py.File h5netcdf.File gzip.GzipFile bz2.BZ2File netCDF4.Dataset"
)
_functions(CallRule("open", 0, "file"), "zipfile.ZipFile tarfile.TarFile rasterio.open fiona.open")
_functions(CallRule("open", 0, "path"), "pandas.HDFStore pandas.io.pytables.HDFStore")
_functions(CallRule("open", 0, "path", mode=99, default="w"), "pandas.ExcelWriter")
_functions(CallRule("open", 0, "filename", mode=2, default="r+"), "numpy.memmap")
_functions(CallRule("write", 0, "file", ending=".npy"), "numpy.save")
_functions(CallRule("write", 0, "file", ending=".npz"), "numpy.savez numpy.savez_compressed")
_functions(
    CallRule("write", 0, "fname"),
    "numpy.savetxt matplotlib.pyplot.savefig matplotlib.pyplot.imsave pylab.savefig "
    "matplotlib.image.imsave imageio.imwrite imageio.imsave imageio.mimsave imageio.mimwrite "
    "imageio.v2.imwrite imageio.v2.mimsave imageio.v3.imwrite skimage.io.imsave cv2.imwrite "
    "scipy.io.savemat scipy.io.wavfile.write soundfile.write torchaudio.save pydicom.dcmwrite "
    "fastparquet.write tensorflow.io.TFRecordWriter bokeh.plotting.output_file "
    "bokeh.io.output_file",
)
_functions(
    CallRule("write", 1, "filename"),
    "joblib.dump skops.io.dump torch.save torchvision.utils.save_image urllib.request.urlretrieve "
    "plotly.io.write_html plotly.io.write_image plotly.io.write_json pyarrow.parquet.write_table "
    "pyarrow.feather.write_feather pyarrow.csv.write_csv feather.write_dataframe nbformat.write "
    "nibabel.save gdown.download bokeh.plotting.save bokeh.io.save sklearn.externals.joblib.dump",
)
_functions(CallRule("write", 2, "f"), "sklearn.datasets.dump_svmlight_file")
_functions(CallRule("write", 99, "filename"), "plotly.offline.plot bokeh.io.export_png")
_functions(
    CallRule("write", 1, "path"),
    "write_gexf write_gml write_graphml write_edgelist write_adjlist write_pajek",
    "networkx.",
)

# Methods
_methods(CallRule("remove", -1), "unlink rmdir rmtree")
_methods(CallRule("move", -1), "rename replace")
_methods(CallRule("write", -1), "write_text write_bytes")
_methods(CallRule("open", -1, mode=0), "open")
_methods(
    CallRule("write", 0, "path"),
    "to_parquet to_pickle to_feather to_orc to_stata to_netcdf to_zarr to_ipc write_parquet "
    "write_csv write_json write_ndjson write_excel write_ipc write_avro write_delta sink_parquet "
    "sink_csv sink_ipc sink_ndjson save_model save_weights to_disk to_delta",
)
_methods(CallRule("write", 0, "path_or_buf"), "to_csv to_json to_xml to_hdf")
_methods(CallRule("write", 0, "buf"), "to_html to_latex to_markdown to_string")
_methods(CallRule("write", 0, "excel_writer"), "to_excel")
_methods(CallRule("write", 0, "filename"), "to_file save savefig tofile write_html write_image")
_methods(CallRule("write", 0, "save_directory"), "save_pretrained")
_methods(
    CallRule("sql", 0, "sql"),
    "execute executemany executescript exec_driver_sql sql query read_sql read_sql_query raw_sql",
)
_methods(CallRule("table", 0, "name"), "to_sql")
_methods(CallRule("table", 0, "destination_table"), "to_gbq")
_methods(CallRule("send", 0, "repo_id"), "push_to_hub")
_methods(
    CallRule("send", 0),
    "upload_folder upload_large_folder upload_fileobj put_object delete_object delete_objects "
    "delete_bucket upload_from_filename upload_from_string upload_blob delete_blob sendmail "
    "send_message storbinary upload_file delete_repo",
)

# Keywords by which the target of a write may be named, besides the rule's own.
TARGET_KEYWORDS = name_set(
    "fname filename file path path_or_buf path_or_buffer excel_writer buf fp f filepath "
    "file_path filepath_or_buffer save_directory dst sql query url uri output where outfile"
)
# Verbs of HTTP, as methods of what may be a session.
HTTP_VERBS = name_set("post put patch delete")
# No Python acts beyond the kernel without one of these names, as far as this package knows.
LAST_NAMES = frozenset(
    {name.rpartition(".")[2] for name in FUNCTIONS} | set(METHODS) | HTTP_VERBS
) | name_set(
    "import_module __import__ getattr request urlopen push main get_ipython run_cell_magic "
    "run_line_magic magic pip conda mamba make_archive modules"
)
