// Middleware for the AI SDK of Vercel (package ai) that has crosstalk guard judge each answer (docs/guard.md):
//
//   const model = wrapLanguageModel({ model: openai("gpt-4o-mini"), middleware: guard({ language: "user" }) });
//
// A wrong answer throws a WrongLanguageError if the service blocks (--block): of a streamed answer at its end, of which
// all pieces have been sent by then. Nothing happens while the service is down.

export class WrongLanguageError extends Error {
  constructor(verdict) {
    super(`the answer should be in ${verdict.expected}, and is wholly or partly in ${verdict.language}`);
    this.verdict = verdict;
  }
}

export function guard({ url = "http://127.0.0.1:8030", language = "user", token, timeout = 500 } = {}) {
  const textOf = (content) =>
    typeof content === "string" ? content : content.filter((p) => p.type === "text").map((p) => p.text).join("\n");

  async function judge(text, prompt, model) {
    const messages = prompt
      .filter((m) => m.role === "user" || m.role === "assistant")
      .map((m) => ({ role: m.role, content: textOf(m.content) }));
    const verdict = await fetch(`${url}/v1/check?offsets=utf16`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ text, language, messages, model: model.modelId }),
      signal: AbortSignal.timeout(timeout),
    })
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null);
    if (verdict?.action === "block") throw new WrongLanguageError(verdict);
  }

  return {
    async wrapGenerate({ doGenerate, params, model }) {
      const result = await doGenerate();
      const text = textOf(result.content);
      if (text) await judge(text, params.prompt, model);
      return result;
    },
    async wrapStream({ doStream, params, model }) {
      const { stream, ...rest } = await doStream();
      let text = "";
      const judging = new TransformStream({
        async transform(part, controller) {
          if (part.type === "text-delta") text += part.delta;
          if (part.type === "finish" && text) await judge(text, params.prompt, model);
          controller.enqueue(part);
        },
      });
      return { stream: stream.pipeThrough(judging), ...rest };
    },
  };
}
