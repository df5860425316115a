"""What several processes of one deployment share through Redis: cache, locks and rate limits."""

from .client import Shared, discard
from .entries import SharedEntries
from .lock import SharedLock
from .rates import SharedBuckets

__all__ = ["Shared", "SharedBuckets", "SharedEntries", "SharedLock", "discard"]
