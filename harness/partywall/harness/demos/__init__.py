"""Demonstrations: one file each, carried out on the bundled agent, every claim checked on the run that it tells of."""

from ._demo import Account, Claim, Demo, demo_named, demos, perform
from ._stage import Deployment, NotShown, Stage

__all__ = ["Account", "Claim", "Demo", "Deployment", "NotShown", "Stage", "demo_named", "demos", "perform"]
