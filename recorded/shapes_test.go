package recorded

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shaped are files as products write them, each with the question "Wo ist mein Paket?" and the answer
// "Es ist unterwegs." to it.
var shaped = map[string]string{
	"openai-log.jsonl":           `{"id":"1","request":{"model":"gpt-4o","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Wo ist mein Paket?"}]},"response":{"id":"c1","object":"chat.completion","model":"gpt-4o-2024","choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."},"finish_reason":"stop"}]}}`,
	"responses.jsonl":            `{"id":"resp_1","object":"response","model":"gpt-4o","input":"Wo ist mein Paket?","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Where is it?"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Es ist unterwegs.","annotations":[]}]}],"metadata":{"locale":"de"}}`,
	"helicone.jsonl":             `{"request_id":"h1","request_model":"gpt-4o","request_body":{"model":"gpt-4o","messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response_body":{"choices":[{"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}`,
	"litellm.jsonl":              `{"litellm_call_id":"l1","model":"gpt-4o","messages":[{"role":"user","content":"Wo ist mein Paket?"}],"response":{"choices":[{"message":{"role":"assistant","content":"Es ist unterwegs."}}]},"metadata":{"user_api_key_team_alias":"shop"}}`,
	"langsmith.jsonl":            `{"id":"r1","run_type":"llm","name":"ChatOpenAI","inputs":{"messages":[[{"lc":1,"type":"constructor","id":["langchain","schema","messages","SystemMessage"],"kwargs":{"content":"Be kind."}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"Wo ist mein Paket?"}}]]},"outputs":{"generations":[[{"text":"Es ist unterwegs.","type":"ChatGeneration","message":{"lc":1,"id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"Es ist unterwegs."}}}]]}}`,
	"langsmith-chain.jsonl":      `{"id":"r1","run_type":"chain","inputs":{"question":"Wo ist mein Paket?"},"outputs":{"answer":"Es ist unterwegs."}}`,
	"langfuse-trace.jsonl":       `{"id":"t1","name":"chat","sessionId":"s1","input":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"output":{"role":"assistant","content":"Es ist unterwegs."},"metadata":{"plan":"gold"}}`,
	"langfuse-observation.jsonl": `{"id":"o1","traceId":"t1","type":"GENERATION","model":"gpt-4o","input":"[{\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"}]","output":"{\"role\":\"assistant\",\"content\":\"Es ist unterwegs.\"}"}`,
	"langfuse.csv":               "id,sessionId,input,output\nt1,s1,\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"Wo ist mein Paket?\"\"}]\",\"{\"\"content\"\":\"\"Es ist unterwegs.\"\",\"\"role\"\":\"\"assistant\"\"}\"\n",
	"langfuse.json":              `[{"id":"t1","input":[{"role":"user","content":"Wo ist mein Paket?"}],"output":"Es ist unterwegs."}]`,
	"anthropic-log.jsonl":        `{"request":{"model":"claude-sonnet-4-5","system":"Be kind.","max_tokens":100,"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"Where?"},{"type":"text","text":"Es ist unterwegs."}],"stop_reason":"end_turn"}}`,
	"ai-sdk.jsonl":               `{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Wo ist mein Paket?"}]},{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"Where?"},{"type":"text","text":"Es ist unterwegs."}]}]}`,
	"otel.json":                  `{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","name":"chat gpt-4o","attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"gpt-4o"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Wo ist mein Paket?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Es ist unterwegs.\"}],\"finish_reason\":\"stop\"}]"}}]},{"traceId":"t","spanId":"db","attributes":[{"key":"db.system","value":{"stringValue":"postgresql"}}]}]}]}]}`,
	"openllmetry.jsonl":          `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[{"key":"gen_ai.prompt.0.role","value":{"stringValue":"user"}},{"key":"gen_ai.prompt.0.content","value":{"stringValue":"Wo ist mein Paket?"}},{"key":"gen_ai.completion.0.content","value":{"stringValue":"Es ist unterwegs."}}]}]}]}]}`,
	"claude-code.jsonl": `{"type":"summary","summary":"Paket","leafUuid":"x"}
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Wo ist mein Paket?"},"uuid":"a","sessionId":"s1","timestamp":"2026-09-01T10:00:00Z"}
{"parentUuid":"a","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"Where is it?"}]},"uuid":"b","sessionId":"s1"}
{"parentUuid":"b","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},"uuid":"c","sessionId":"s1"}
{"parentUuid":"c","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"on its way"}]},"uuid":"d","sessionId":"s1"}
{"parentUuid":"d","isSidechain":false,"type":"assistant","message":{"id":"n","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Es ist unterwegs."}]},"uuid":"e","sessionId":"s1"}`,
	"codex.jsonl": `{"timestamp":"2026-09-01T10:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/w"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>linux</environment_context>"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Wo ist mein Paket?"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"Wo ist mein Paket?"}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"on its way"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Es ist unterwegs."}]}}`,
	"whatsapp.txt": "12.03.24, 10:15 - Nachrichten sind verschlüsselt.\n12.03.24, 10:15 - Eva: Wo ist mein Paket?\n[12.03.24, 10:16:02] ShopBot: Es ist\nunterwegs.\n",
	"dialogue.txt": "User: Wo ist mein Paket?\n\nBot: Es ist unterwegs.\n",

	"openai-stream.jsonl":     `{"request":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response":[{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]},{"choices":[{"index":0,"delta":{"content":"Es ist "}}]},{"choices":[{"index":0,"delta":{"content":"unterwegs."}}]},{"choices":[]}]}`,
	"openai-sse.jsonl":        "{\"request\":{\"messages\":[{\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"}]},\"response\":\"data: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"role\\\":\\\"assistant\\\",\\\"content\\\":\\\"\\\"}}]}\\n\\ndata: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":\\\"Es ist \\\"}}]}\\n\\ndata: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":\\\"unterwegs.\\\"}}]}\\n\\ndata: {\\\"choices\\\":[]}\\n\\ndata: [DONE]\\n\\n\"}",
	"openai-body.jsonl":       `{"request":{"headers":{},"body":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]}},"response":{"status":200,"body":{"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}}`,
	"openai-merged.jsonl":     `{"model":"gpt-4o","messages":[{"role":"user","content":"Wo ist mein Paket?"}],"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]}`,
	"openai-completion.jsonl": `{"messages":[{"role":"user","content":"Wo ist mein Paket?"}],"completion":{"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}`,
	"openai-two.jsonl":        `{"request":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response":{"choices":[{"message":{"role":"assistant","content":"Es ist unterwegs."}},{"message":{"role":"assistant","content":"Another one."}}]}}`,
	"openai-one.json": `{
 "request": {
  "messages": [
   {
    "role": "user",
    "content": "Wo ist mein Paket?"
   }
  ]
 },
 "response": {
  "choices": [
   {
    "index": 0,
    "message": {
     "role": "assistant",
     "content": "Es ist unterwegs."
    }
   }
  ]
 }
}`,
	"responses-stream.jsonl":  `{"request":{"input":"Wo ist mein Paket?"},"response":[{"type":"response.created","response":{"output":[]}},{"type":"response.output_text.delta","delta":"Es ist "},{"type":"response.output_text.delta","delta":"unterwegs."},{"type":"response.completed","response":{"output":[]}}]}`,
	"anthropic-stream.jsonl":  `{"request":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response":[{"type":"message_start","message":{"role":"assistant","content":[]}},{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"Where?"}},{"type":"content_block_delta","delta":{"type":"text_delta","text":"Es ist "}},{"type":"content_block_delta","delta":{"type":"text_delta","text":"unterwegs."}},{"type":"message_stop"}]}`,
	"anthropic-sse.jsonl":     "{\"request\":{\"messages\":[{\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"}]},\"response\":\"event: message_start\\ndata: {\\\"type\\\":\\\"message_start\\\",\\\"message\\\":{\\\"role\\\":\\\"assistant\\\",\\\"content\\\":[]}}\\n\\nevent: content_block_delta\\ndata: {\\\"type\\\":\\\"content_block_delta\\\",\\\"delta\\\":{\\\"type\\\":\\\"thinking_delta\\\",\\\"thinking\\\":\\\"Where?\\\"}}\\n\\nevent: content_block_delta\\ndata: {\\\"type\\\":\\\"content_block_delta\\\",\\\"delta\\\":{\\\"type\\\":\\\"text_delta\\\",\\\"text\\\":\\\"Es ist \\\"}}\\n\\nevent: content_block_delta\\ndata: {\\\"type\\\":\\\"content_block_delta\\\",\\\"delta\\\":{\\\"type\\\":\\\"text_delta\\\",\\\"text\\\":\\\"unterwegs.\\\"}}\\n\\nevent: message_stop\\ndata: {\\\"type\\\":\\\"message_stop\\\"}\\n\\n\"}",
	"gemini.jsonl":            `{"request":{"contents":[{"role":"user","parts":[{"text":"Wo ist mein Paket?"}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"Es ist unterwegs."}]}}]}}`,
	"helicone.json":           `{"data":[{"request_id":"h","request_body":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response_body":{"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}],"error":null}`,
	"helicone-stream.jsonl":   `{"request_id":"h","request_body":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response_body":{"streamed_data":[{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]},{"choices":[{"index":0,"delta":{"content":"Es ist "}}]},{"choices":[{"index":0,"delta":{"content":"unterwegs."}}]},{"choices":[]}]}}`,
	"helicone-schema.jsonl":   `{"request_id":"h","llmSchema":{"request":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response":{"messages":[{"role":"assistant","content":"Es ist unterwegs."}]}}}`,
	"litellm-text.jsonl":      `{"id":"l","call_type":"acompletion","messages":"Wo ist mein Paket?","response":"Es ist unterwegs."}`,
	"litellm-callback.jsonl":  `{"standard_logging_object":{"id":"l","messages":[{"role":"user","content":"Wo ist mein Paket?"}],"response":{"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}}`,
	"litellm-spend.jsonl":     `{"request_id":"l","call_type":"acompletion","messages":{},"response":{"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]},"proxy_server_request":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]}}`,
	"langsmith-prompts.jsonl": `{"id":"r","run_type":"llm","inputs":{"prompts":["Wo ist mein Paket?"]},"outputs":{"generations":[[{"text":"Es ist unterwegs."}]]}}`,
	"langsmith-tuples.jsonl":  `{"id":"r","run_type":"chain","inputs":{"messages":[["system","Be kind."],["human","Wo ist mein Paket?"]]},"outputs":{"output":{"content":"Es ist unterwegs.","type":"ai"}}}`,
	"langsmith-runs.json":     `{"runs":[{"id":"a","run_type":"chain","trace_id":"t","inputs":{"question":"Wo ist mein Paket?"},"outputs":{"answer":"Es ist unterwegs."}},{"id":"b","run_type":"tool","trace_id":"t","inputs":{"input":"x"},"outputs":{"output":"on its way"}},{"id":"d","run_type":"llm","trace_id":"t","inputs":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"outputs":{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]}}]}},{"id":"c","run_type":"llm","trace_id":"t","inputs":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"outputs":{"choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}]}`,
	"langfuse-args.jsonl":     `{"id":"t","input":{"args":["Wo ist mein Paket?"],"kwargs":{}},"output":"Es ist unterwegs."}`,
	"langfuse-named.jsonl":    `{"id":"t","input":{"language":"de","user_input":"Wo ist mein Paket?"},"output":{"score":"1","chat_response":"Es ist unterwegs."}}`,
	"langfuse-page.json":      `{"data":[{"id":"t","input":[{"role":"user","content":"Wo ist mein Paket?"}],"output":{"role":"assistant","content":"Es ist unterwegs."}}],"meta":{"page":1}}`,
	"langfuse-download.json":  `{"trace":{"id":"t","input":[{"role":"user","content":"Wo ist mein Paket?"}],"output":{"role":"assistant","content":"Es ist unterwegs."}},"observations":[{"id":"s","traceId":"t","type":"SPAN","input":{"query":"x"},"output":{"documents":["on its way"]}},{"id":"o","traceId":"t","type":"GENERATION","input":[{"role":"user","content":"Wo ist mein Paket?"}],"output":{"role":"assistant","content":"Es ist unterwegs."}},{"id":"p","traceId":"t","type":"SPAN","input":"Wo ist mein Paket?","output":"Es ist unterwegs."},{"id":"r","traceId":"t","type":"TOOL","input":"Wo ist mein Paket?","output":"on its way"}]}`,
	"langfuse-blob.jsonl":     `{"id":"o","trace_id":"t","type":"GENERATION","input":"[{\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"}]","output":"{\"role\":\"assistant\",\"content\":\"Es ist unterwegs.\"}"}`,
	"ai-sdk-file.json": `[
 {
  "id": "u",
  "role": "user",
  "parts": [
   {
    "type": "text",
    "text": "Wo ist mein Paket?"
   }
  ]
 },
 {
  "id": "a",
  "role": "assistant",
  "parts": [
   {
    "type": "step-start"
   },
   {
    "type": "reasoning",
    "text": "Where?"
   },
   {
    "type": "tool-find",
    "state": "output-available",
    "output": {
     "text": "on its way"
    }
   },
   {
    "type": "text",
    "text": "Es ist unterwegs."
   }
  ]
 }
]`,
	"ai-sdk-one.json":      `{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"Wo ist mein Paket?"}]},{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"Where?"},{"type":"tool-find","state":"output-available","output":{"text":"on its way"}},{"type":"text","text":"Es ist unterwegs."}]}]}`,
	"ai-sdk-result.jsonl":  `{"prompt":"Wo ist mein Paket?","text":"Es ist unterwegs.","finishReason":"stop","response":{"messages":[{"role":"assistant","content":"Es ist unterwegs."}]}}`,
	"messages.csv":         "conversation_id,role,content\nc,user,Wo ist mein Paket?\nc,assistant,Es ist unterwegs.\n",
	"otel-structured.json": `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[{"key":"gen_ai.input.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"user"}},{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"text"}},{"key":"content","value":{"stringValue":"Wo ist mein Paket?"}}]}}]}}}]}}]}}},{"key":"gen_ai.output.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"assistant"}},{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"reasoning"}},{"key":"content","value":{"stringValue":"Where?"}}]}},{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"text"}},{"key":"content","value":{"stringValue":"Es ist unterwegs."}}]}}]}}}]}}]}}}],"events":[]}]}]}]}`,
	"otel-details.json":    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[],"events":[{"name":"gen_ai.client.inference.operation.details","attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Wo ist mein Paket?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"reasoning\",\"content\":\"Where?\"},{\"type\":\"text\",\"content\":\"Es ist unterwegs.\"}]}]"}}]}]}]}]}]}`,
	"otel-events.json":     `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[],"events":[{"name":"gen_ai.system.message","attributes":[{"key":"content","value":{"stringValue":"Be kind."}}]},{"name":"gen_ai.user.message","attributes":[{"key":"content","value":{"stringValue":"Wo ist mein Paket?"}}]},{"name":"gen_ai.choice","attributes":[{"key":"index","value":{"stringValue":"0"}},{"key":"message","value":{"stringValue":"{\"role\":\"assistant\",\"content\":\"Es ist unterwegs.\"}"}}]}]}]}]}]}`,
	"otel-content.json":    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[],"events":[{"name":"gen_ai.content.prompt","attributes":[{"key":"gen_ai.prompt","value":{"stringValue":"[{\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"}]"}}]},{"name":"gen_ai.content.completion","attributes":[{"key":"gen_ai.completion","value":{"stringValue":"[{\"role\":\"assistant\",\"content\":\"Es ist unterwegs.\"}]"}}]}]}]}]}]}`,
	"otel-agent.json":      `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"agent","attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Wo ist mein Paket?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"reasoning\",\"content\":\"Where?\"},{\"type\":\"text\",\"content\":\"Es ist unterwegs.\"}]}]"}}]},{"traceId":"t","spanId":"chat","attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Wo ist mein Paket?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"reasoning\",\"content\":\"Where?\"},{\"type\":\"text\",\"content\":\"Es ist unterwegs.\"}]}]"}}]}]}]}]}`,
	"otel-console.jsonl":   `{"name":"chat","context":{"trace_id":"0x1","span_id":"0x2"},"attributes":{"gen_ai.input.messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Wo ist mein Paket?\"}]}]","gen_ai.output.messages":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"reasoning\",\"content\":\"Where?\"},{\"type\":\"text\",\"content\":\"Es ist unterwegs.\"}]}]"},"events":[]}`,
	"openinference.json":   `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[{"key":"llm.input_messages.0.message.role","value":{"stringValue":"user"}},{"key":"llm.input_messages.0.message.content","value":{"stringValue":"Wo ist mein Paket?"}},{"key":"llm.output_messages.0.message.role","value":{"stringValue":"assistant"}},{"key":"llm.output_messages.0.message.content","value":{"stringValue":"Es ist unterwegs."}}],"events":[]}]}]}]}`,
	"logfire.json":         `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[{"key":"events","value":{"stringValue":"[{\"event.name\":\"gen_ai.user.message\",\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"},{\"event.name\":\"gen_ai.choice\",\"message\":{\"role\":\"assistant\",\"content\":\"Es ist unterwegs.\"}}]"}}],"events":[]}]}]}]}`,
	"claude-code-stream.jsonl": `{"type":"system","subtype":"init","session_id":"s"}
{"type":"user","message":{"role":"user","content":"Wo ist mein Paket?"},"session_id":"s"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Es ist unterwegs."}]},"session_id":"s"}
{"type":"result","subtype":"success","result":"Es ist unterwegs.","session_id":"s"}`,
	"codex-old.jsonl": `{"id":"x","timestamp":"2025","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Wo ist mein Paket?"}]}
{"type":"reasoning","id":"r","summary":[]}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Es ist unterwegs."}]}`,
	"codex-first.json":      `{"session":{"id":"x"},"items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Wo ist mein Paket?"}]},{"type":"function_call","name":"shell"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Es ist unterwegs."}]}]}`,
	"whatsapp-iphone.txt":   "[12.03.24, 10:14:01] ShopBot: \u200eNachrichten sind verschlüsselt.\n[12.03.24, 10:15:02] Eva: Wo ist mein Paket?\n[12.03.24, 10:15:03] Eva: <Media omitted>\n[12.03.24, 10:16:02] ShopBot: Es ist\nunterwegs.\n",
	"whatsapp-ko.txt":       "2024. 3. 12. 오전 10:15, Eva : Wo ist mein Paket?\n2024. 3. 12. 오전 10:16, ShopBot : Es ist unterwegs.\n",
	"whatsapp-fi.txt":       "12.3.2024 klo 10.15 - Eva: Wo ist mein Paket?\n12.3.2024 klo 10.16 - ShopBot: Es ist unterwegs.\n",
	"whatsapp-ar.txt":       "12/3/24، 10:15 ص - Eva: Wo ist mein Paket?\n12/3/24، 10:16 ص - ShopBot: Es ist unterwegs.\n",
	"dialogue-names.txt":    "System: Be kind.\n[10:15] **Kunde:** Wo ist mein Paket?\n[10:16] **Claude:** Es ist unterwegs.\n",
	"dialogue-markdown.txt": "### You:\nWo ist mein Paket?\n### ChatGPT:\nEs ist unterwegs.\n",
}

// Each file opens by itself, with the question that the answer is to.
func TestShapes(t *testing.T) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range shaped {
			if !yield(name) {
				return
			}
		}
	}) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(shaped[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		var asked []string
		r := Reading{Expect: ExpectUser, Identify: func(messages ...string) string { asked = messages; return "de" }}
		n := 0
		for c, err := range r.Confusion(path) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			n++
			got := fmt.Sprintf("%q %q %s", asked, strings.ReplaceAll(c.Answer.Text, "\n", " "), c.Item.Prompt.Language)
			if want := `["Wo ist mein Paket?"] "Es ist unterwegs." de`; got != want {
				t.Errorf("%s: %s", name, got)
			}
			if c.Item.ID == "" || c.Item.Cluster == "" {
				t.Errorf("%s: no id: %+v", name, c.Item)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d answers", name, n)
		}
	}
}

// The input file of a batch has the questions, by the ids of the requests.
func TestBatchWithInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := write("in.jsonl", `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"Wo?"}]}}
{"custom_id":"b","method":"POST","url":"/v1/responses","body":{"model":"gpt-4o","input":"Quand ?"}}
`)
	out := write("out.jsonl", `{"id":"batch_1","custom_id":"b","response":{"status_code":200,"body":{"model":"gpt-4o-x","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Demain."}]}]}},"error":null}
{"id":"batch_2","custom_id":"a","response":{"status_code":200,"body":{"model":"gpt-4o-x","choices":[{"message":{"role":"assistant","content":"Hier."}}]}},"error":null}
{"id":"batch_3","custom_id":"c","response":{"status_code":200,"body":{"choices":[]}},"error":{"code":"x"}}
`)
	var notes, got []string
	r := Reading{Expect: ExpectUser, Batches: map[string][]string{},
		Note:     func(text string) { notes = append(notes, text) },
		Identify: func(messages ...string) string { return strings.Join(messages, "|") }}
	for _, path := range []string{in, out} {
		for c, err := range r.Confusion(path) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %q %q %s %s", c.Item.ID, c.Item.Prompt.Text, c.Answer.Text, c.Model, c.Answer.Status))
		}
	}
	want := []string{`Quand ?/b "Quand ?" "Demain." gpt-4o-x text`, `Wo?/a "Wo?" "Hier." gpt-4o-x text`, `und/c "" ""  failed`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "the user's messages from body") {
		t.Errorf("%q", notes)
	}
}

// What came before an answer of a coding assistant is a column.
func TestAfter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := shaped["claude-code.jsonl"] + `
{"isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Noch etwas?"}]},"sessionId":"s1"}
{"isSidechain":false,"isCompactSummary":true,"type":"user","message":{"role":"user","content":"This session is being continued"},"sessionId":"s1"}
{"isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Weiter."}]},"sessionId":"s1"}
{"isSidechain":false,"isMeta":true,"type":"user","message":{"role":"user","content":"Caveat: generated"},"sessionId":"s1"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":"Danke"},"sessionId":"s1"}
{"isSidechain":true,"type":"assistant","message":{"role":"assistant","content":"Gern."},"sessionId":"s1"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for c, err := range (Reading{Expect: "de"}).Confusion(path) {
		if err != nil {
			t.Fatal(err)
		}
		l := c.Item.Labels
		got = append(got, fmt.Sprintf("%s %s %q %s %s", l[turnColumn], l[afterColumn], c.Item.Prompt.Text, c.Answer.Text, l["isSidechain"]))
	}
	want := []string{`1 tool "Wo ist mein Paket?" Es ist unterwegs. false`, `2 assistant "Wo ist mein Paket?" Noch etwas? false`,
		`3 compaction "Wo ist mein Paket?" Weiter. false`, `4 user "Danke" Gern. true`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
