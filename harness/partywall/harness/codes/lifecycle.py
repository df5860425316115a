"""PW30x: sessions that outlive their end, end early, grow without bound, or lose what they stood for."""

from ..plan.guarantee import Guarantee
from .code import Code

_SWEEPER = "expiry carried out by a sweeper alone, and not asked about when a write comes"
_COMPUTE = "Compute the state from the time of creation at every call; let a sweeper only tidy up."

CODES = (
    Code(
        "PW301",
        "open after its end",
        Guarantee.LIFECYCLE,
        "A session took a write, or called itself active, after the promised lifetime had passed since its creation.",
        (_SWEEPER, "no absolute end at all", "a read that serves the state of when it was last stored"),
        _COMPUTE,
    ),
    Code(
        "PW302",
        "activity moves the end",
        Guarantee.LIFECYCLE,
        "The absolute end of a session moved: the session told a later one, or took a write after its end because it "
        "had been read or written shortly before, while another session at rest was refused.",
        (
            "a time to live that is set anew by every write",
            "a store whose reads touch the record, as sliding caches do",
            "one time limit used for idleness and for the absolute end",
        ),
        "Keep three limits apart; count the absolute one from creation, and never write that instant again.",
    ),
    Code(
        "PW303",
        "ended before its end",
        Guarantee.LIFECYCLE,
        "Before the promised lifetime had passed, a session refused a write as expired or gone, or no longer showed a "
        "turn that it had shown: idleness may cost time, never content.",
        ("an idle limit that ends the session", "turns kept in a cache that evicts what is idle"),
        "Let idleness release resources only; what was acknowledged stays until the absolute end.",
    ),
    Code(
        "PW304",
        "archived and still told",
        Guarantee.LIFECYCLE,
        "The text of an archived session was shown, or stood in the main store: archiving clears the text, metadata "
        "and a summary remain.",
        ("a flag is set and the turns are left in place", "text that lies on in free pages of a database file"),
        "Delete the turns when a session is archived, and overwrite or compact what the store leaves behind.",
    ),
    Code(
        "PW305",
        "archived session not told as such",
        Guarantee.LIFECYCLE,
        "After it was archived, or after the promised time for that, a session could no longer be asked for, or did "
        "not say that it is archived.",
        ("the whole record deleted instead of its text", "a state that only a sweeper sets"),
        "Keep the record with its times and counts, and compute its state when it is asked for.",
    ),
    Code(
        "PW306",
        "session without bound",
        Guarantee.LIFECYCLE,
        "A session held more turns than the target promises at most.",
        ("a bound that only the prompt has", "condensing that happens later than the writes come"),
        "Condense, or refuse, in the call that reaches the bound.",
    ),
    Code(
        "PW307",
        "early turns gone without a summary",
        Guarantee.LIFECYCLE,
        "The first turns of a full session were taken away, and nothing in their task stands for them: neither a fact "
        "that was not there before nor the content itself.",
        ("the oldest turns are dropped where they should be condensed", "a summary that is written to no task"),
        "Condense early turns into facts of their task first; where that fails, keep a fact that says what went.",
    ),
    Code(
        "PW308",
        "conclusions not carried",
        Guarantee.LIFECYCLE,
        "A session was opened to go on from another, and does not show what had been concluded there: facts of the "
        "task are missing in the same task of the new session.",
        ("the source is accepted and not looked at", "facts carried to the session layer, or to another task"),
        "Copy the facts of each task into the same task of the new session, in the call that opens it.",
    ),
)
