"""Nothing is wrong: the healthy case, a real fault that changes nothing."""

from ..fault import Fault

FAULT = Fault("steady", "the model answers as it should", "none")
