r"""A saved capture: the records and nothing else, in one JSON document (gzip'd on disk).

{"schema": "forkhang-bundle/1", "records": ["{\"forkhang\": \"capture/1\", ...}", "[{\"pid\": 1718, ...}]"]}
"""

from __future__ import annotations

import json
from typing import Tuple

SCHEMA = "forkhang-bundle/1"


def pack(records: Tuple[str, ...]) -> str:
    """The bundle's text for these records."""
    return json.dumps({"schema": SCHEMA, "records": records}, ensure_ascii=False)


def is_bundle(text: str) -> bool:
    """Whether this text is a bundle, of any schema number."""
    return text.lstrip()[:60].replace(" ", "").startswith('{"schema":"forkhang-bundle/')


def unpack(text: str) -> Tuple[str, ...]:
    """The records of a bundle; ValueError if it is torn or of a schema that is not ours."""
    document = json.loads(text)
    if document["schema"] != SCHEMA:
        raise ValueError(document["schema"])
    return tuple(document["records"])
