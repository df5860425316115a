"""PW7xx: what a failing model did to a turn, to what is stored, and to others."""

from ..plan.guarantee import Guarantee
from .code import Code

CODES = (
    Code(
        "PW701",
        "effect of a faulty turn",
        Guarantee.RESILIENCE,
        "What is stored, or the ledger of tool effects, differs before and after a turn in which every answer of the "
        "model was faulty, and nobody else wrote in between.",
        (
            "cut tool arguments repaired to {} and executed, so that a filter is lost",
            "a default for an argument that a tool with effects cannot do without",
            "invalid output stored as a fact or a memory",
            "a tool name matched loosely, or passed on unchecked",
        ),
        "Pass every tool call through one gate that checks name, schema and arguments of all calls before it runs one; "
        "write only what was whole.",
    ),
    Code(
        "PW702",
        "faulty text kept",
        Guarantee.RESILIENCE,
        "A word that only the faulty answer held turned up in a later prompt, reply or listing of the same scope.",
        (
            "the assistant's turn written before the answer is checked",
            "an error page or a stack trace kept as a message",
            "invalid output sent back to the model with the next turn",
        ),
        "Check an answer whole before anything of it is stored; keep failures in the log, by kind and not by text.",
    ),
    Code(
        "PW703",
        "faulty turn bled into another scope",
        Guarantee.RESILIENCE,
        "After a faulty answer, another scope was shown a word of it, or content that is not its own was shown in the "
        "struck turn or a later one.",
        (
            "an answer cache filled by a failed turn",
            "an agent or a buffer that a failed turn leaves to the next request",
        ),
        "Give every request objects of its own; drop them where it fails; never cache a failure.",
    ),
    Code(
        "PW704",
        "retry storm",
        Guarantee.RESILIENCE,
        "One turn sent the same context to the failing model more than three times; every attempt costs, and sends it "
        "again.",
        ("retries of the SDK multiplied by retries of the agent", "a retry without a limit"),
        "Bound attempts in one place, at most three in all; retry only what may pass.",
    ),
    Code(
        "PW705",
        "turn without an end",
        Guarantee.RESILIENCE,
        "A turn struck by a fault was not answered within the call's deadline.",
        (
            "a read time-out as the only limit: a model that drips bytes resets it for ever",
            "a model time-out longer than what callers wait",
        ),
        "Put a deadline on the whole turn, shorter than the callers', retries included.",
    ),
    Code(
        "PW706",
        "failure shown as success",
        Guarantee.RESILIENCE,
        "A turn in which every answer of the model was faulty was answered as if it had gone well: with nothing, with "
        "the faulty text itself, or with words that claim that the model was used.",
        (
            "an empty or invalid answer passed on",
            "failure read as `nothing to store`",
            "an exception caught and replaced by a pleasant sentence",
        ),
        "Answer a failure as one: a refusal with a code, or `llm_used: false` with guidance of a type.",
    ),
    Code(
        "PW707",
        "failure without a type",
        Guarantee.RESILIENCE,
        "A turn struck by a fault fell over: the caller cannot tell what happened, nor whether to send it again.",
        ("an exception of the model's client that nobody catches", "a failure answered with status 500"),
        "Catch what the model's client raises where it is called; give every kind of failure a code.",
    ),
)
