"""The locustfile of `partywall load`: Locust finds the user classes here."""

from partywall.harness.frontends.locust_user import IsolatedUser

__all__ = ["IsolatedUser"]
