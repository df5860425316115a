"""The model answers as it should: the healthy case by its name among the required seven."""

from ..fault import Fault

FAULT = Fault("normal", "the model answers as it should, under the name of a profile", "none")
