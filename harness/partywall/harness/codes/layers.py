"""PW32x: what is kept in the wrong layer of memory."""

from ..plan.guarantee import Guarantee
from .code import Code

CODES = (
    Code(
        "PW321",
        "clarification in the user layer",
        Guarantee.ISOLATION,
        "What was said for one task, or one session, is kept as the user's: it says so itself, or it showed as a fact "
        "in a session that it was never meant for.",
        (
            "every clarification is stored as a preference",
            "the layer is chosen by the model, or left to a default",
        ),
        "Ask in this order: does it hold in another task? in another session? does the user want it for good and can "
        "change it? The first no decides the layer; make it a required argument of every write.",
    ),
    Code(
        "PW322",
        "user layer written behind the scenes",
        Guarantee.ISOLATION,
        "The target counted more writes to the user layer than it was asked for, and more than one in ten of all: the "
        "user layer takes what belongs to sessions and tasks.",
        ("turns promoted to the user layer as they come", "an extraction job that writes preferences unasked"),
        "Write to the user layer only what the user asked to keep; watch the count of writes by layer.",
    ),
    Code(
        "PW323",
        "user layer out of the user's hands",
        Guarantee.CONSENT,
        "A fact of the user layer cannot be listed by its user, or is still there after its user deleted it.",
        ("a deletion that one path only takes", "a copy in another layer or a cache that is listed"),
        "Let the user list, change and delete every entry of the user layer, by one path for all readers.",
    ),
)
