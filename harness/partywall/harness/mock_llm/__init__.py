"""A stand-in model, a fault injector and a wiretap: point an agent's base URL here."""

from .attribution import Attribution, Flight, InFlight, attribute, tag
from .connection import Limits
from .exchange import Exchange
from .profiles import profile_of
from .server import MockLLM, serve
from .wiretap import Wiretap

__all__ = [
    "Attribution",
    "Exchange",
    "Flight",
    "InFlight",
    "Limits",
    "MockLLM",
    "Wiretap",
    "attribute",
    "profile_of",
    "serve",
    "tag",
]
