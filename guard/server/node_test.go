package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The manual's program for Node finds the parts of a text, whose spans are bytes.
func TestManualNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	page, err := os.ReadFile("../../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```js\n(.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("no program")
	}
	url := serving(t, Options{})
	script := `const answer = "제주도는 비가 자주 와서 it's a good idea to pack a jacket 챙기세요. 😀";` + "\n" +
		strings.ReplaceAll(strings.ReplaceAll(string(program[1]), "http://127.0.0.1:8030", url), "timeout(200)", "timeout(60_000)")
	file := filepath.Join(t.TempDir(), "check.mjs")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), node, file).CombinedOutput()
	if want := "in en: it's a good idea to pack a jacket\n"; err != nil || string(said) != want {
		t.Errorf("%v\n%s\nwant %s", err, said, want)
	}
}

// The middleware for the AI SDK throws if an answer is wrong, and lets everything pass while the service is down. It is
// called as wrapLanguageModel of ai 7.0.173 calls it, with which it ran, too.
func TestAISDK(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	url, dir := serving(t, Options{Block: true}), t.TempDir()
	script := `
import { guard, WrongLanguageError } from "./guard.mjs";
const prompt = [{ role: "system", content: "Sei kurz." },
  { role: "user", content: [{ type: "text", text: "Wann kommt meine Bestellung endlich bei mir an?" }, { type: "file" }] }];
const model = (answer) => ({
  doGenerate: async () => ({ content: [{ type: "reasoning", text: "Hm." }, { type: "text", text: answer }] }),
  doStream: async () => ({ response: 1, stream: new ReadableStream({ start(c) {
    c.enqueue({ type: "text-start", id: "1" });
    for (const delta of answer.match(/.{1,7}/gs) ?? []) c.enqueue({ type: "text-delta", id: "1", delta });
    c.enqueue({ type: "text-end", id: "1" });
    c.enqueue({ type: "finish" });
    c.close();
  } }) }),
});
const failed = (e) => e instanceof WrongLanguageError ? e.message + " " + e.verdict.spans.length : String(e);
for (const url of ["` + url + `", "http://127.0.0.1:1"]) {
  for (const answer of ["` + german + `", "` + english + `", ""]) {
    const m = guard({ url, timeout: 60_000 }), call = { params: { prompt }, model: { modelId: "m" }, ...model(answer) };
    console.log(await m.wrapGenerate(call).then((r) => r.content[1].text === answer, failed));
    let text = "", error = "";
    const { stream, response } = await m.wrapStream(call);
    try {
      for await (const part of stream) text += part.delta ?? "";
    } catch (e) { error = failed(e); }
    console.log(response, text === answer, error);
  }
}`
	for name, text := range map[string]string{"guard.mjs": read(t, examples+"ai_sdk_guard.mjs"), "try.mjs": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), node, "try.mjs")
	c.Dir = dir
	said, err := c.CombinedOutput()
	wrong := "the answer should be in de, and is wholly or partly in en 1\n"
	if want := "true\n1 true \n" + wrong + "1 true " + wrong + strings.Repeat("true\n1 true \n", 4); err != nil ||
		string(said) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, said, want)
	}
}
