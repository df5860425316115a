"""Adapters as a user would write them into a file of the working directory: a right one and many wrong ones."""

RIGHT = """
from partywall.harness import Refused

class Right:
    def __init__(self):
        self.turns = {}
    def key(self, call):
        return call.scope.tenant, call.scope.user, call.scope.session
    def append_turn(self, call, text, role="user", expected_version=None):
        self.turns.setdefault(self.key(call), []).append((call.scope.task, text))
        return {"turn": len(self.turns[self.key(call)])}
    def list_turns(self, call, limit=None):
        return [{"turn": n, "text": text} for n, (_, text) in enumerate(self.turns.get(self.key(call), []), 1)]
    def context(self, call, query=""):
        return [text for task, text in self.turns.get(self.key(call), []) if task == call.scope.task]
"""

WITHOUT_TENANT = """
    def key(self, call):
        return call.scope.user, call.scope.session
"""

HOSTILE: dict[str, tuple[str, int]] = {
    # what it does: the body of a class that is Right otherwise, the exit code
    "shares tenants": (WITHOUT_TENANT, 1),
    "wrong type": ("    def list_turns(self, call, limit=None): return 7", 2),
    "wrong keys": ("    def list_turns(self, call, limit=None): return [{'text': 'x', (1, 2): 3}]", 2),
    "unknown code": ("    def list_turns(self, call, limit=None): raise Refused('no', 'dennied')", 2),
    "wrong signature": ("    def list_turns(self): return []", 2),
    "wrong dimension": ("    dimensions = ('team',)", 2),
    "nothing at all": ("    append_turn = list_turns = context = None", 2),
    "no answer": (
        "    async def list_turns(self, call, limit=None):\n        import asyncio; await asyncio.sleep(60)",
        4,
    ),
    "no answer to anything": (
        "    async def list_turns(self, call, *rest, **more):\n        import asyncio; await asyncio.sleep(60)\n"
        "    append_turn = context = list_turns",
        3,
    ),
    "no answer, deaf": (
        "    async def list_turns(self, call, limit=None):\n"
        "        import asyncio, time\n"
        "        end = time.monotonic() + 1\n"
        "        while time.monotonic() < end:\n"
        "            try: await asyncio.sleep(0.05)\n"
        "            except asyncio.CancelledError: pass\n"
        "        return []",
        4,
    ),
    "no factory": ("    def __init__(self): raise OSError('no disk')", 3),
    "leaves at once": ("    def __init__(self): raise SystemExit(0)", 3),
    "leaves": ("    def list_turns(self, call, limit=None): raise SystemExit(0)", 4),
    "leaves, async": ("    async def list_turns(self, call, limit=None): raise SystemExit(0)", 4),
    "stops iteration": ("    def list_turns(self, call, limit=None): raise StopIteration", 4),
    "interrupts": ("    async def list_turns(self, call, limit=None): raise KeyboardInterrupt", 4),
    "is interrupted from the keyboard": (
        "    asked = []\n"
        "    def list_turns(self, call, limit=None):\n"
        "        import os, signal, time\n"
        "        if not self.asked: self.asked.append(os.kill(os.getpid(), signal.SIGINT))\n"
        "        time.sleep(0.1)\n"
        "        return []",
        3,
    ),
    "drops": ("    def append_turn(self, call, text, role='user', expected_version=None): return None", 4),
    "denies": ("    def list_turns(self, call, limit=None): raise Refused('no', 'denied')", 4),
    "raises": ("    def list_turns(self, call, limit=None): raise ValueError('\\x1b[31mred\\n<b>')", 4),
    "100 MB": ("    def list_turns(self, call, limit=None): return ['x' * 100_000_000]", 4),
    "endless": ("    def list_turns(self, call, limit=None):\n        while True: yield 'x'", 4),
    "endless, async": ("    async def list_turns(self, call, limit=None):\n        while True: yield 'x'", 4),
    "huge number": ("    def list_turns(self, call, limit=None): return [{'text': 'x', 'n': 10 ** 5000}]", 4),
    "not implemented": (
        "    def list_turns(self, call, *rest, **more): raise NotImplementedError\n    context = list_turns",
        5,
    ),
    "no tenants": ("    dimensions = ('task',)", 5),
    "invalid UTF-8": (
        "    def list_turns(self, call, limit=None):\n"
        "        return [b'\\xff\\xfe' + t['text'].encode() for t in Right.list_turns(self, call)]",
        0,
    ),
    "control characters": (
        "    name = '\\x1b]0;owned\\x07\\x1b[2J\\u202eevil<script>'\n"
        "    def list_turns(self, call, limit=None):\n"
        "        return ['\\x1b[2J\\x00' + t['text'] + '<img onerror=x>' for t in Right.list_turns(self, call)]",
        0,
    ),
    "leaks in control characters": (
        WITHOUT_TENANT + "\n    def list_turns(self, call, limit=None):\n"
        "        return ['\\x1b[2J\\x00\\x9b' + t['text'] + '\\u202e::error::<script>' for t in "
        "Right.list_turns(self, call)]",
        1,
    ),
    "hangs at the end": ("    async def aclose(self):\n        raise SystemExit(0)", 0),
    "right": ("    pass", 0),
}
