"""The provider fails: status 500 with an error in its API's own shape; SDKs retry it."""

from ..document import Document
from ..fault import Case, Fault


def _document(document: Document, case: Case) -> Document:
    message = f"The server had an error while processing your request (incident {case.mark})."
    return case.codec.error(500, message, document.request_id)


FAULT = Fault("exception", "the provider answers 500 with a JSON error", "transport", document=_document)
