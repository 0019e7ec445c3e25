"""The names by which code acts beyond the kernel: tables only. ``rules``, ``magics``, ``shell`` and
``other_languages`` say what they mean."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...notebook.paths import name_set
from .action import Kind

What = Literal[
    "remove", "move", "copy", "write", "open", "truncate", "run", "end", "send", "sql", "table",
    "execute",
]  # fmt: skip


class CallRule(NamedTuple):
    """What a function or method does, and ``at`` which place its argument names the target; -1 for
    the object itself.

    ``keyword``: the argument's name. ``mode``: where an ``open`` has its mode, and ``default`` that
    mode. ``ending``: what is added to a name without it. ``is_native``: it may act by code of its
    own that is not Python, which the guard of a kernel does not see.
    """

    what: What
    at: int = 0
    keyword: str = ""
    mode: int = 1
    default: str = "r"
    ending: str = ""
    is_native: bool = False


_SESSIONS = ("requests", "httpx", "requests.Session()", "requests.session()", "httpx.Client()",
             "httpx.AsyncClient()", "aiohttp.ClientSession()")  # fmt: skip

# Python: functions by their full names, whatever they are called in the cell.
FUNCTIONS: tuple[tuple[CallRule, str], ...] = (
    (CallRule("remove", 0, "path"),
     "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree pathlib.Path.unlink "
     "pathlib.Path.rmdir"),
    (CallRule("remove", 0, "path", is_native=True), "send2trash.send2trash send2trash"),
    (CallRule("move", 0, "src"),
     "os.rename os.renames os.replace shutil.move pathlib.Path.rename"),
    (CallRule("truncate", 0, "path"), "os.truncate"),
    (CallRule("copy", 1, "dst"), "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree"),
    (CallRule("run", 0, "args"),
     "subprocess.run subprocess.call subprocess.check_call subprocess.check_output "
     "subprocess.Popen subprocess.getoutput subprocess.getstatusoutput"),
    (CallRule("run", 0, "command"),
     "os.system os.popen os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp "
     "os.execvpe os.posix_spawn os.posix_spawnp os.startfile"),
    (CallRule("run", 1),
     "os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe"),
    (CallRule("run", 0, "cmd"),
     "asyncio.create_subprocess_exec asyncio.create_subprocess_shell pty.spawn pexpect.spawn "
     "pexpect.run get_ipython().system get_ipython().getoutput get_ipython().system_piped "
     "get_ipython().system_raw"),
    (CallRule("end"), "os.kill os.killpg"),
    (CallRule("send", 0, "url"),
     " ".join(f"{each}.{verb}" for each in _SESSIONS for verb in ("post", "put", "patch",
              "delete"))),
    (CallRule("send"),
     "huggingface_hub.upload_file huggingface_hub.upload_folder "
     "huggingface_hub.upload_large_folder huggingface_hub.delete_repo huggingface_hub.delete_file "
     "huggingface_hub.delete_folder"),
    (CallRule("execute"), "exec eval"),
    # Files
    (CallRule("open", 0, "file"),
     "open pathlib.Path.open codecs.open zipfile.ZipFile tarfile.TarFile"),
    (CallRule("open", 0, "filename"), "gzip.open bz2.open lzma.open tarfile.open"),
    (CallRule("open", 0, "name"), "gzip.GzipFile bz2.BZ2File"),
    (CallRule("open", 0, "name", is_native=True), "h5py.File h5netcdf.File netCDF4.Dataset"),
    (CallRule("open", 0, "file", is_native=True), "rasterio.open fiona.open"),
    (CallRule("open", 0, "path", is_native=True), "pandas.HDFStore pandas.io.pytables.HDFStore"),
    (CallRule("open", 0, "path", mode=99, default="w"), "pandas.ExcelWriter"),
    (CallRule("open", 0, "filename", mode=2, default="r+"), "numpy.memmap"),
    (CallRule("write", 0, "file", ending=".npy"), "numpy.save"),
    (CallRule("write", 0, "file", ending=".npz"), "numpy.savez numpy.savez_compressed"),
    (CallRule("write", 0, "fname"),
     "numpy.savetxt matplotlib.pyplot.savefig matplotlib.pyplot.imsave pylab.savefig "
     "matplotlib.image.imsave scipy.io.savemat scipy.io.wavfile.write pydicom.dcmwrite "
     "bokeh.plotting.output_file bokeh.io.output_file"),
    (CallRule("write", 0, "fname", is_native=True),
     "imageio.imwrite imageio.imsave imageio.mimsave imageio.mimwrite imageio.v2.imwrite "
     "imageio.v2.mimsave imageio.v3.imwrite skimage.io.imsave cv2.imwrite soundfile.write "
     "torchaudio.save fastparquet.write tensorflow.io.TFRecordWriter"),
    (CallRule("write", 1, "filename"),
     "joblib.dump skops.io.dump torchvision.utils.save_image urllib.request.urlretrieve "
     "plotly.io.write_html plotly.io.write_image plotly.io.write_json nbformat.write nibabel.save "
     "gdown.download bokeh.plotting.save bokeh.io.save sklearn.externals.joblib.dump"),
    (CallRule("write", 1, "filename", is_native=True),
     "torch.save pyarrow.parquet.write_table pyarrow.feather.write_feather pyarrow.csv.write_csv "
     "feather.write_dataframe"),
    (CallRule("write", 2, "f"), "sklearn.datasets.dump_svmlight_file"),
    (CallRule("write", 99, "filename"), "plotly.offline.plot bokeh.io.export_png"),
    (CallRule("write", 1, "path"),
     "networkx.write_gexf networkx.write_gml networkx.write_graphml networkx.write_edgelist "
     "networkx.write_adjlist networkx.write_pajek"),
)  # fmt: skip

# Python: methods by their last name, since an object's type is seldom visible in the source.
METHODS: tuple[tuple[CallRule, str], ...] = (
    (CallRule("remove", -1), "unlink rmdir rmtree"),
    (CallRule("move", -1), "rename replace"),
    (CallRule("write", -1), "write_text write_bytes"),
    (CallRule("open", -1, mode=0), "open"),
    (CallRule("write", 0, "path"), "to_pickle to_stata"),
    (CallRule("write", 0, "path", is_native=True),
     "to_parquet to_feather to_orc to_netcdf to_zarr to_ipc write_parquet write_csv write_json "
     "write_ndjson write_excel write_ipc write_avro write_delta sink_parquet sink_csv sink_ipc "
     "sink_ndjson save_model save_weights to_disk to_delta"),
    (CallRule("write", 0, "path_or_buf"), "to_csv to_json to_xml"),
    (CallRule("write", 0, "path_or_buf", is_native=True), "to_hdf"),
    (CallRule("write", 0, "buf"), "to_html to_latex to_markdown to_string"),
    (CallRule("write", 0, "excel_writer"), "to_excel"),
    (CallRule("write", 0, "filename"), "savefig tofile write_html write_image"),
    (CallRule("write", 0, "filename", is_native=True), "to_file save"),
    (CallRule("write", 0, "save_directory", is_native=True), "save_pretrained"),
    (CallRule("sql", 0, "sql", is_native=True),
     "execute executemany executescript exec_driver_sql sql query read_sql read_sql_query raw_sql"),
    (CallRule("table", 0, "name", is_native=True), "to_sql"),
    (CallRule("table", 0, "destination_table", is_native=True), "to_gbq"),
    (CallRule("send", 0, "repo_id"), "push_to_hub"),
    (CallRule("send", 0),
     "upload_folder upload_large_folder upload_fileobj put_object delete_object delete_objects "
     "delete_bucket upload_from_filename upload_from_string upload_blob delete_blob sendmail "
     "send_message storbinary upload_file delete_repo"),
)  # fmt: skip

# What these make writes by native code, by whatever method.
NATIVE_LIBRARIES = name_set(
    "cudf dask dask_cudf datasets deltalake duckdb fireducks geopandas h5py ibis modin netCDF4 "
    "polars pyarrow pyspark ray tables tensorflow vaex xarray"
)
# Keywords by which the target of a write may be named, besides the rule's own.
TARGET_KEYWORDS = name_set(
    "fname filename file path path_or_buf path_or_buffer excel_writer buf fp f filepath "
    "file_path filepath_or_buffer save_directory dst sql query url uri output where outfile"
)
# Verbs of HTTP, as methods of what may be a session.
HTTP_VERBS = name_set("post put patch delete")
# Names that a cell may act by without one of the tables' names.
INDIRECT = name_set(
    "import_module __import__ getattr request urlopen push main get_ipython run_cell_magic "
    "run_line_magic magic pip conda mamba make_archive modules"
)
# These read, although a method of the same name writes.
QUIET = name_set("PIL.Image.open Image.open webbrowser.open")

# IPython's commands.
SHELL_MAGICS = name_set("! sx system bash sh script zsh cmd powershell perl ruby")
PACKAGE_MAGICS = name_set("pip conda mamba micromamba uv")
PROCESS_MAGICS = name_set("python python2 python3 pypy")
FILE_MAGICS = name_set("rm rmdir mv cp")
SQL_MAGICS = name_set("sql duckdb bigquery read_sql")
READING_PACKAGES = name_set(
    "list show freeze info check search config help debug cache index"
)  # fmt: skip

# Shells. These only print something, whatever their arguments (except ``>``).
READERS = name_set(
    "ls dir pwd cd cat head tail less more wc grep egrep fgrep zcat zgrep echo printf date whoami "
    "hostname uname which type file stat du df free top ps env printenv id uptime nproc lscpu "
    "nvidia-smi tree sort uniq cut tr awk diff cmp md5sum sha256sum basename dirname realpath "
    "readlink true false test [ exit export set unset alias seq sleep history jobs find "
    "if then else elif fi for in do done while until case esac local return declare read let {{ }} "
    "function time"
)
REMOVERS = name_set("rm rmdir unlink shred del erase truncate")
INSTALLERS = name_set(
    "pip pip3 conda mamba micromamba uv apt apt-get npm yarn brew easy_install pipx poetry yum dnf "
    "apk"
)
INSTALLING = name_set(
    "install uninstall remove update upgrade add sync purge autoremove create ci i"
)
SENDERS = name_set("scp sftp rsync ssh ftp")
PREFIXES = name_set("sudo nohup time exec command builtin env xargs then do else nice ! {")
CLOUDS = {
    name: name_set(verbs)
    for name, verbs in (
        ("aws", "cp mv sync rm mb rb"),
        ("gsutil", "cp mv rsync rm"),
        ("gcloud", "cp mv rsync rm deploy"),
        ("az", "upload delete"),
        ("hf", "upload delete"),
        ("huggingface-cli", "upload delete"),
        ("twine", "upload"),
        ("kaggle", "create submit version"),
        ("docker", "push"),
        ("dvc", "push"),
    )
}

# R and Julia: functions, and those that act only with one of these in their arguments.
SHELL_LANGUAGES = name_set("bash sh zsh shell")
_REMOVES: tuple[Kind, str] = ("removes or moves files", "removes")
_MOVES: tuple[Kind, str] = ("removes or moves files", "moves")
_WRITES: tuple[Kind, str] = ("overwrites files", "overwrites")
RUNS: tuple[Kind, str] = ("runs a shell command", "runs a program:")
INSTALLS: tuple[Kind, str] = ("installs or removes packages", "installs or removes packages:")
_SENDS: tuple[Kind, str] = ("sends data to another machine", "sends data to another machine:")
_TABLES: tuple[Kind, str] = ("changes a database", "removes a table:")


class Language(NamedTuple):
    """The functions of a language, and those that act only with one of these in their arguments.
    A line that begins with a sign of ``commands`` runs a program, or installs packages."""

    functions: tuple[tuple[tuple[Kind, str], str], ...]
    only_with: dict[str, str]
    commands: dict[str, tuple[Kind, str]] = {}


LANGUAGES = {
    "r": Language(
        (
            (_REMOVES, "unlink file.remove file_delete dir_delete"),
            (_MOVES, "file.rename file_move"),
            (RUNS, "system system2 shell shell.exec processx::run"),
            (INSTALLS, "install.packages remove.packages update.packages install_github"),
            (_SENDS, "POST PUT PATCH DELETE httr::POST httr::PUT pin_write"),
            (_TABLES, "dbRemoveTable"),
            (_WRITES,
             "write.csv write.csv2 write.table write.xlsx writeLines write_csv write_tsv "
             "write_delim write_rds write_xlsx write_parquet write_feather write_json saveRDS save "
             "save.image sink ggsave pdf png jpeg svg tiff fwrite cat dput dump file.create "
             "file.copy file.append download.file file writexl::write_xlsx"),
        ),
        {"file.copy": "overwrite", "cat": "file", "dput": "file", "file": "\"w"},
    ),
    "julia": Language(
        (
            (_REMOVES, "rm Base.rm"),
            (_MOVES, "mv Base.mv"),
            (RUNS, "run pipeline success"),
            (INSTALLS, "Pkg.add Pkg.rm Pkg.update Pkg.develop Pkg.build"),
            (_SENDS, "HTTP.post HTTP.put HTTP.patch HTTP.delete"),
            (_WRITES,
             "write CSV.write open savefig save cp jldsave serialize Arrow.write download "
             "writedlm"),
        ),
        {"open": "\"w \"a w+ a+ r+", "cp": "force", "run": "`", "pipeline": "`", "success": "`",
         "rm": "\" '", "mv": "\" '"},
        {";": RUNS, "]": INSTALLS},
    ),
}  # fmt: skip
