"""The agent: one turn is listen, recall, ask, reply; nothing outside is called while a lock is held."""

from __future__ import annotations

from dataclasses import dataclass

from partywall.canaries import Level, Scope

from .answers import Answers
from .append import ATTEMPTS, Appended, Draft, TurnLog
from .condense import Condenser
from .context import Assembled, Assembler
from .layers import Layer
from .llm import ChatModel, ModelFailure
from .log import Log
from .metrics import Metrics
from .refusals import Conflict, SessionFull
from .store import SessionTable
from .tools import Tools

_DEGRADED = "I cannot answer right now. Your message is kept; please try again."
_REMOVED = "This message was answered before, and the answer is no longer kept."


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What one agent turn gave. `turn` is the number of the user's turn, `version` the session's after it."""

    text: str
    intent: str
    llm_used: bool
    turn: int
    version: int
    guidance: dict[str, object] | None = None
    blocked: bool = False
    tool_calls: tuple[object, ...] = ()

    def record(self, snapshot: int) -> dict[str, object]:
        """The result as answers show it, with the number of the settings it was made under."""
        return {
            "text": self.text,
            "intent": self.intent,
            "blocked": self.blocked,
            "llm_used": self.llm_used,
            "tool_calls": list(self.tool_calls),
            "guidance": self.guidance,
            "turn": self.turn,
            "version": self.version,
            "snapshot": snapshot,
        }


@dataclass(frozen=True, slots=True)
class Request:
    """Who sent it, and under which id, if any."""

    caller: str = ""
    request_id: str | None = None


class Agent:
    """Runs turns. Holds no state of any request: all that a step needs is handed to it."""

    def __init__(
        self,
        turns: TurnLog,
        sessions: SessionTable,
        assembler: Assembler,
        model: ChatModel,
        answers: Answers,
        tools: Tools,
        condenser: Condenser,
        metrics: Metrics,
        log: Log,
    ) -> None:
        self._turns = turns
        self._sessions = sessions
        self._assembler = assembler
        self._model = model
        self._answers = answers
        self._tools = tools
        self._condenser = condenser
        self._metrics = metrics
        self._log = log

    async def run_turn(self, scope: Scope, text: str, request: Request) -> TurnResult:
        """One turn of the conversation.

        A model failure gives a typed degraded result: the user's turn stands, no assistant's turn is written,
        and the same request id may try again. A request already answered gets its first answer, or is told that it
        is gone. Raises Conflict where
        the turn was deleted while it was answered.
        """
        draft = Draft(text, "user", "run_turn", caller=request.caller, request_id=request.request_id)
        heard = await self.listen(scope, draft)
        if heard.repeated and request.request_id is not None:
            earlier = await self._sessions.reply_to(scope, request.caller, request.request_id)
            if earlier is not None and earlier.text is not None:
                return TurnResult(earlier.text, "chat", True, heard.turn, earlier.turn)
            if earlier is not None:
                return TurnResult(_REMOVED, "unknown", False, heard.turn, earlier.turn, _removed())
        assembled = await self.recall(scope, text, heard.turn)
        if not any(turn.turn == heard.turn for turn in assembled.history):
            # Purged or taken away since it was heard: nobody waits for an answer to it, and the model is not asked.
            raise Conflict("what was asked was deleted before it was answered; nothing was written")
        try:
            reply, used = await self._ask(scope, text, assembled, heard.turn)
        except ModelFailure as failure:
            self._log.write("model_failed", scope, request.request_id, kind=failure.kind, reason=str(failure))
            return TurnResult(_DEGRADED, "unknown", False, heard.turn, heard.version, _guidance(failure))
        said = await self.reply(scope, reply, request, heard)
        return TurnResult(said.text, "chat", True, heard.turn, said.version, tool_calls=used)

    async def _ask(
        self, scope: Scope, text: str, assembled: Assembled, turn: int
    ) -> tuple[str, tuple[dict[str, object], ...]]:
        """The model's words, or what its tool calls did. Raises ModelFailure, and then nothing was done."""
        offered = self._tools.offered(text)
        if not offered:
            return await self._model.chat(assembled.conversation()), ()
        said = await self._model.say(assembled.conversation(), offered)
        if not said.calls:
            return said.text, ()
        done = await self._tools.run(scope, offered, said.calls, turn)
        return done.text, done.records

    async def append(self, scope: Scope, draft: Draft) -> Appended:
        """Write one turn, drop the cached answers that did not know it, and condense a session that is long."""
        appended = await self._appended(scope, draft)
        if draft.request_id is not None and draft.part == "user":
            self._metrics.delivered(draft.operation, appended.repeated)
        if not appended.repeated:
            self._metrics.layer_write(Layer.SESSION)
            await self._answers.spoke(scope)
            if await self._condenser.after(scope, appended):
                await self._answers.changed(scope, Level.TASK)
        return appended

    async def _appended(self, scope: Scope, draft: Draft) -> Appended:
        for _ in range(ATTEMPTS):
            try:
                return await self._turns.append(scope, draft)
            except SessionFull:
                # Others may fill it again at once.
                await self._condenser.make_room(scope)
                await self._answers.changed(scope, Level.SESSION)
        return await self._turns.append(scope, draft)

    async def listen(self, scope: Scope, draft: Draft) -> Appended:
        """Write the user's turn."""
        return await self.append(scope, draft)

    async def recall(self, scope: Scope, query: str, up_to: int | None = None) -> Assembled:
        """The context of the scope, its history ending with turn `up_to`."""
        return await self._assembler.assemble(scope, query, up_to)

    async def reply(self, scope: Scope, text: str, request: Request, heard: Appended) -> Appended:
        """Write the assistant's turn, where the user's turn it answers still stands."""
        draft = Draft(
            text,
            "assistant",
            "run_turn",
            part="assistant",
            caller=request.caller,
            request_id=request.request_id,
            answers=heard,
        )
        return await self.append(scope, draft)


def _guidance(failure: ModelFailure) -> dict[str, object]:
    reason = {
        "model_unavailable": "the model could not be reached in time",
        "model_output_invalid": "the model's answer was not whole",
    }[failure.kind]
    return _guided(failure.kind, reason, "Send the message again.")


def _removed() -> dict[str, object]:
    """Of a late retry: it gets the number of its turn, is not answered a second time, and stores nothing."""
    return _guided("answer_removed", "the answer was condensed, archived or erased", "Ask anew, as a new message.")


def _guided(kind: str, reason: str, suggestion: str) -> dict[str, object]:
    return {
        "type": kind,
        "reason": reason,
        "required_content": [],
        "examples": [],
        "suggestions": [suggestion],
    }
