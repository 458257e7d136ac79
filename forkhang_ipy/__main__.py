"""`python -m forkhang_ipy` is the command `forkhang`."""

from __future__ import annotations

import sys

from forkhang_ipy.cli import main

sys.exit(main())
