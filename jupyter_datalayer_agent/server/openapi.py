"""``python -m jupyter_datalayer_agent.server.openapi`` prints ``openapi.json``; ``make check``
compares it with the file in the repository.
"""

from __future__ import annotations

import json

from .routes import document

if __name__ == "__main__":
    print(json.dumps(document(), indent=2, ensure_ascii=False))
