"""Any deployment over HTTP, driven by a profile: what it is asked, how its answers are read, who calls."""

from .load import load_profile, shipped_profile, shipped_profiles
from .profile import Profile
from .target import HttpTarget

__all__ = ["HttpTarget", "Profile", "load_profile", "shipped_profile", "shipped_profiles"]
