"""A proxy in front of the provider fails: status 502 with a page of HTML instead of an error."""

from ..document import Document
from ..fault import Case, Fault

_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><p>%s</p></body></html>\r\n"


def _document(document: Document, case: Case) -> Document:
    return document._replace(status=502, media_type="text/html", body=(_PAGE % case.mark).encode(), events=None)


FAULT = Fault("http.500_html", "a proxy answers 502 with HTML", "transport", document=_document)
