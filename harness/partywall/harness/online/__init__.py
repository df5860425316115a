"""Online: the sampling checker, which looks at what a deployment in production shows, and does it no harm."""

from .asgi import Middleware, PartywallMiddleware
from .checker import Checker, Settings
from .exchange import ScopeFrom
from .fields import Fields
from .follow import Follower, Log
from .metrics import Metrics
from .worker import Limits

__all__ = [
    "Checker",
    "Fields",
    "Follower",
    "Limits",
    "Log",
    "Metrics",
    "Middleware",
    "PartywallMiddleware",
    "ScopeFrom",
    "Settings",
]
