"""Known distributions and the modules that they contain.

Only distributions listed here are ever installed without a question. Anybody can publish a package
under a name that resembles a popular one, and its code runs when it is installed; so an unknown
name that is near a known one is taken for a misspelling and is never proposed.
"""

from __future__ import annotations

import sys

from ...notebook.paths import name_set
from ..nearness import distance

# Imported under another name than they are installed under. The longest dotted name counts.
DISTRIBUTIONS = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "Cryptodome": "pycryptodomex",
    "IPython": "ipython",
    "Levenshtein": "levenshtein",
    "MySQLdb": "mysqlclient",
    "OpenGL": "PyOpenGL",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "PyQt5": "PyQt5",
    "PyQt6": "PyQt6",
    "PySide6": "PySide6",
    "Xlib": "python-xlib",
    "absl": "absl-py",
    "attr": "attrs",
    "attrs": "attrs",
    "azure.identity": "azure-identity",
    "azure.storage.blob": "azure-storage-blob",
    "bs4": "beautifulsoup4",
    "cairo": "pycairo",
    "cairosvg": "CairoSVG",
    "cartopy": "Cartopy",
    "cv2": "opencv-python-headless",
    "dash_bootstrap_components": "dash-bootstrap-components",
    "dateparser": "dateparser",
    "dateutil": "python-dateutil",
    "discord": "discord.py",
    "distutils": "setuptools",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "eli5": "eli5",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "flask": "Flask",
    "flask_cors": "flask-cors",
    "flask_sqlalchemy": "Flask-SQLAlchemy",
    "gi": "PyGObject",
    "git": "GitPython",
    "pynvml": "nvidia-ml-py",
    "github": "PyGithub",
    "google.auth": "google-auth",
    "google.cloud.aiplatform": "google-cloud-aiplatform",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.bigquery_storage": "google-cloud-bigquery-storage",
    "google.cloud.datastore": "google-cloud-datastore",
    "google.cloud.firestore": "google-cloud-firestore",
    "google.cloud.language": "google-cloud-language",
    "google.cloud.logging": "google-cloud-logging",
    "google.cloud.pubsub": "google-cloud-pubsub",
    "google.cloud.pubsub_v1": "google-cloud-pubsub",
    "google.cloud.secretmanager": "google-cloud-secret-manager",
    "google.cloud.speech": "google-cloud-speech",
    "google.cloud.storage": "google-cloud-storage",
    "google.cloud.texttospeech": "google-cloud-texttospeech",
    "google.cloud.translate": "google-cloud-translate",
    "google.cloud.vision": "google-cloud-vision",
    "google.genai": "google-genai",
    "google.generativeai": "google-generativeai",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "google_auth_oauthlib": "google-auth-oauthlib",
    "googleapiclient": "google-api-python-client",
    "graphviz": "graphviz",
    "grpc": "grpcio",
    "igraph": "igraph",
    "imblearn": "imbalanced-learn",
    "ipywidgets": "ipywidgets",
    "jinja2": "Jinja2",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "kafka": "kafka-python",
    "ldap": "python-ldap",
    "lightning_fabric": "lightning-fabric",
    "llama_index": "llama-index",
    "lxml": "lxml",
    "magic": "python-magic",
    "markdown": "Markdown",
    "markupsafe": "MarkupSafe",
    "mpl_toolkits": "matplotlib",
    "mpl_toolkits.basemap": "basemap",
    "msgpack": "msgpack",
    "mysql": "mysql-connector-python",
    "mysql.connector": "mysql-connector-python",
    "nacl": "PyNaCl",
    "netCDF4": "netCDF4",
    "odf": "odfpy",
    "osgeo": "GDAL",
    "past": "future",
    "pdfminer": "pdfminer.six",
    "pkg_resources": "setuptools",
    "plotly_express": "plotly",
    "pptx": "python-pptx",
    "psycopg": "psycopg[binary]",
    "psycopg2": "psycopg2-binary",
    "pydot": "pydot",
    "pygments": "Pygments",
    "pylab": "matplotlib",
    "pymysql": "PyMySQL",
    "pypdf": "pypdf",
    "PyPDF2": "PyPDF2",
    "pysal": "pysal",
    "pythoncom": "pywin32",
    "pytorch_lightning": "pytorch-lightning",
    "pywintypes": "pywin32",
    "ruamel": "ruamel.yaml",
    "ruamel.yaml": "ruamel.yaml",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "shapefile": "pyshp",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "sklearn_pandas": "sklearn-pandas",
    "skopt": "scikit-optimize",
    "slugify": "python-slugify",
    "snowflake.connector": "snowflake-connector-python",
    "socks": "PySocks",
    "speech_recognition": "SpeechRecognition",
    "sqlalchemy": "SQLAlchemy",
    "tables": "tables",
    "telegram": "python-telegram-bot",
    "tlz": "toolz",
    "umap": "umap-learn",
    "usb": "pyusb",
    "websocket": "websocket-client",
    "win32api": "pywin32",
    "win32clipboard": "pywin32",
    "win32com": "pywin32",
    "win32con": "pywin32",
    "win32gui": "pywin32",
    "wx": "wxPython",
    "xdist": "pytest-xdist",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}

# Installed under the name that they are imported under (an underscore may be a hyphen).
SAME_NAME = name_set(
    "accelerate aiofiles aiohttp aiosqlite altair ansible anthropic anyio apache_beam arch "
    "arviz astropy asyncpg atoti autogluon babel baostock bitsandbytes black bokeh boto3 "
    "botocore bottleneck bqplot branca cachetools calmap catboost category_encoders causalml "
    "celery cffi chainer chardet charset_normalizer chromadb click clickhouse_connect cmocean "
    "cohere colorama colorcet colorlog comet_ml confluent_kafka contextily corner "
    "cryptography cupy cvxopt cvxpy cython cytoolz d3blocks dagster dash dask dask_ml "
    "databricks datasets datashader datatable dbt ddtrace deap deepdiff deltalake diffusers "
    "dill distributed django docker dtale duckdb einops elasticsearch emcee emoji evaluate "
    "evidently fastai fastapi fastparquet feather featuretools filelock fiona flair flake8 "
    "flaml folium fsspec ftfy fuzzywuzzy gensim geopandas geoplot geopy geoviews gradio "
    "great_expectations greenlet gspread gym gymnasium h2o h5py hdbscan holoviews httpx "
    "huggingface_hub humanize hvplot hyperopt hypothesis ibis imagehash imageio "
    "imageio_ffmpeg invoke ipdb ipyleaflet ipympl jax jaxlib jieba joblib jsonlines "
    "jsonschema jupyter jupyterlab jupytext kagglehub keras keyring kneed kornia kubernetes "
    "langchain langchain_community langchain_core langchain_openai langdetect langgraph "
    "lifelines lightgbm lightning lime linearmodels litellm llvmlite loguru markdown2 "
    "matplotlib memory_profiler missingno mistralai mlflow mlxtend mne modin moviepy "
    "mplcyberpunk mplfinance mpmath multiprocess mypy nbclient nbconvert nbformat neo4j "
    "neptune networkx nibabel nilearn nltk nolearn nose notebook numba numexpr numpy numpyro "
    "obspy odfpy ollama onnx onnxruntime openai openpyxl optuna orjson osmnx pandas "
    "pandas_datareader pandas_gbq pandas_profiling pandas_ta pandera panel papermill paramiko "
    "patsy pdfplumber peewee peft pendulum phonenumbers pika pingouin pint plotly plotnine "
    "polars polyline pooch prefect prettytable prophet psutil pulp pyarrow pycaret pycountry "
    "pydantic pydeck pydicom pyfiglet pygame pyinstrument pymc pymc3 pymongo pynndescent "
    "pynput pyod pyodbc pyperclip pyproj pyspark pystan pytesseract pytest pytz pyvis pyvista "
    "qrcode quandl quantstats qutip rasterio ray rdkit redis regex reportlab requests "
    "requests_cache requests_html rich river rpy2 s3fs sacrebleu sacremoses scanpy "
    "scikit_posthocs scikitplot scipy scrapy seaborn selenium sentencepiece setuptools shap "
    "shapely simpy sktime slack_sdk smart_open snowflake soundfile spacy spotipy "
    "sqlalchemy_utils sqlmodel squarify stable_baselines3 stanza starlette statsforecast "
    "statsmodels streamlit stripe sweetviz sympy ta tabpfn tabula tabulate tenacity "
    "tensorboard tensorflow tensorflow_datasets tensorflow_hub tensorflow_probability "
    "termcolor textblob theano thefuzz tifffile tiktoken tokenizers toml toolz torch "
    "torchaudio torchmetrics torchtext torchvision tornado tqdm traitlets transformers "
    "trimesh trl tsfresh tslearn tweepy typer tzdata ujson uncertainties unidecode urllib3 "
    "uvicorn vaderSentiment vaex vedo vega_datasets wandb watchdog websockets werkzeug "
    "widgetsnbextension wikipedia wordcloud xarray xgboost xlrd xlsxwriter xlwt xmltodict "
    "xxhash ydata_profiling yellowbrick yfinance zarr zstandard"
)
_OTHER_SPELLING = {
    "arch": "arch",
    "feather": "feather-format",
    "scikitplot": "scikit-plot",
    "tabula": "tabula-py",
    "unidecode": "Unidecode",
    "xlsxwriter": "XlsxWriter",
    "databricks": "databricks-sdk",
    "snowflake": "snowflake-connector-python",
    "dbt": "dbt-core",
}

# Modules that were removed from the standard library.
FORMER_STDLIB = name_set(
    "__builtin__ _winreg aifc asynchat asyncore audioop BaseHTTPServer cgi cgitb chunk "
    "commands ConfigParser Cookie cookielib copy_reg cPickle crypt cStringIO dummy_thread "
    "formatter htmlentitydefs HTMLParser httplib imghdr imp lib2to3 mailcap md5 msilib nis "
    "nntplib ossaudiodev parser pipes Queue sets sha SimpleHTTPServer smtpd sndhdr "
    "SocketServer spwd StringIO sunau symbol telnetlib thread Tkinter tkMessageBox urllib2 "
    "urlparse UserDict uu xdrlib xmlrpclib"
)
# Common names of users' own files: never installed.
OWN_NAMES = name_set(
    "analysis app base classes common conf config constants core data dataset db functions "
    "helper helpers io_utils lib libs main model models module my_functions my_module mylib "
    "mymodule plots plotting preprocess preprocessing project script scripts settings src "
    "tests tool tools train training util utilities utils visualisation visualization"
)


def distribution_of(module: str) -> str | None:
    """The known distribution of a (dotted) module, or None."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in DISTRIBUTIONS:
            return DISTRIBUTIONS[name]
        if name in SAME_NAME:
            return _OTHER_SPELLING.get(name, name.replace("_", "-"))
    return None


def known_modules() -> frozenset[str]:
    """Top-level modules whose distribution is known."""
    return SAME_NAME | {name.partition(".")[0] for name in DISTRIBUTIONS}


def is_stdlib(module: str) -> bool:
    """Whether a top-level module is, or was, part of Python itself."""
    return module in sys.stdlib_module_names or module in FORMER_STDLIB


def looks_like_a_popular_name(module: str) -> bool:
    """Whether an unknown name is one or two edits away from a known module or distribution."""
    name = module.casefold().replace("-", "_")
    popular = {each.casefold() for each in known_modules()}
    popular |= {each.casefold().replace("-", "_") for each in DISTRIBUTIONS.values()}
    popular |= {each.casefold() for each in sys.stdlib_module_names} | {"opencv_python"}
    return any(distance(name, each, 2) <= 2 for each in popular)
