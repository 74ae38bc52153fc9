"""
title: crosstalk guard
description: Marks answers that are not in the language of the user.
"""
import asyncio
import json
import urllib.request

from pydantic import BaseModel


class Filter:
    class Valves(BaseModel):
        url: str = "http://127.0.0.1:8030"
        token: str = ""
        language: str = "user"  # or a tag, such as ko
        timeout: float = 1.0
        note: str = "\n\n*(This answer may be in another language than yours.)*"

    def __init__(self):
        self.valves = self.Valves()

    def check(self, body):
        *before, answer = body["messages"]
        record = {"text": answer["content"], "language": self.valves.language, "model": body.get("model", ""),
                  "messages": [{"role": m["role"], "content": m["content"]} for m in before]}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.valves.token}"}
        request = urllib.request.Request(self.valves.url + "/v1/check", json.dumps(record).encode(), headers)
        with urllib.request.urlopen(request, timeout=self.valves.timeout) as response:
            return json.load(response)

    async def outlet(self, body: dict, __user__: dict | None = None) -> dict:
        if not body.get("messages") or body["messages"][-1].get("role") != "assistant":
            return body
        try:
            verdict = await asyncio.to_thread(self.check, body)
        except Exception as e:  # a guard that is down stops nobody
            print("crosstalk guard:", e)
            return body
        if verdict["verdict"] == "wrong":
            body["messages"][-1]["content"] += self.valves.note
        return body
