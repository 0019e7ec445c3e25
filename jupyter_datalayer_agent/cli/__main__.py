"""``python -m jupyter_datalayer_agent.cli``."""

import sys

from . import main

sys.exit(main())
