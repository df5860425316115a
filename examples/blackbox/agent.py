"""A small agent with the usual mistake: it keeps each conversation under the session id alone."""

import os

import httpx
from fastapi import FastAPI, Header
from pydantic import BaseModel

MODEL_URL = os.environ.get("MODEL_URL", "http://127.0.0.1:8199/v1")
SYSTEM = {"role": "system", "content": "You take orders for a shop. Answer in one sentence."}

app = FastAPI()
model = httpx.AsyncClient(timeout=30, trust_env=False)
conversations: dict[str, list[dict[str, str]]] = {}


class Turn(BaseModel):
    text: str


@app.post("/sessions/{session}/turns")
async def run_turn(session: str, turn: Turn, x_tenant: str = Header(), x_user: str = Header()) -> dict[str, str]:
    # The mistake: two customers who both call their session `s1` share this list.
    history = conversations.setdefault(session, [])
    history.append({"role": "user", "content": turn.text})
    body = {"model": "any", "messages": [SYSTEM, *history]}
    response = await model.post(f"{MODEL_URL}/chat/completions", json=body)
    response.raise_for_status()
    answer = response.json()["choices"][0]["message"]["content"] or ""
    history.append({"role": "assistant", "content": answer})
    return {"reply": "ok" if answer else "no answer"}  # clean: no reader of replies would ever notice
