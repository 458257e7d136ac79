"""A module whose import never ends; import_lock.py imports it."""

import threading

threading.Event().wait()
