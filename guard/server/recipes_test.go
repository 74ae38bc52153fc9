package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const examples = "../../docs/examples/"

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// python runs a program and returns what it printed.
func python(t *testing.T, program string, files map[string]string) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), path, "-c", program)
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return string(said)
}

// The manual's program for Python asks again for an answer that is blocked.
func TestManualPython(t *testing.T) {
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindStringSubmatch(read(t, "../../docs/guard.md"))
	if program == nil {
		t.Fatal("no program")
	}
	url := serving(t, Options{Block: true})
	text := strings.ReplaceAll(strings.ReplaceAll(program[1], "http://127.0.0.1:8030", url), "timeout=0.2", "timeout=60")
	said := python(t, "ask_again = lambda: 'asked again'\nanswer = 'Your order is on its way.'\n"+text+"\nprint(answer)", nil)
	if said != "asked again\n" {
		t.Error(said)
	}
}

// Open WebUI calls a filter's outlet with the body of the conversation; a service that is down changes nothing.
func TestOpenWebUI(t *testing.T) {
	url := serving(t, Options{})
	files := map[string]string{"guard_filter.py": read(t, examples+"openwebui_filter.py"),
		"pydantic.py": "class BaseModel:\n    pass\n"} // the filter needs no more of it
	said := python(t, `
import asyncio, guard_filter
f = guard_filter.Filter()
f.valves.timeout = 60
for url in "`+url+`", "http://127.0.0.1:1":
    f.valves.url = url
    for answer in "`+german+`", "`+english+`":
        body = {"model": "m", "chat_id": "c", "messages": [{"role": "user", "content": "Wann kommt meine Bestellung endlich an?", "id": "1"},
            {"role": "assistant", "content": answer, "id": "2", "timestamp": 1}]}
        print(len(asyncio.run(f.outlet(body, {"id": "u"}))["messages"][-1]["content"]) - len(answer))
print(asyncio.run(f.outlet({"messages": []})))
`, files)
	lines := strings.FieldsFunc(said, func(r rune) bool { return r == '\n' })
	if len(lines) != 7 || lines[0] != "0" || lines[1] != "56" || !strings.HasPrefix(lines[2], "crosstalk guard:") || lines[3] != "0" || lines[5] != "0" {
		t.Errorf("%q", lines)
	}
}

// Kong's AI Custom Guardrail sends the body that its configuration names, and reads the fields that it names.
func TestKong(t *testing.T) {
	block := regexp.MustCompile("(?s)```yaml\n(plugins:.*?)```").FindStringSubmatch(read(t, "../../docs/guard.md"))
	var config struct {
		Plugins []struct {
			Name   string
			Config struct {
				Request struct {
					URL  string
					Body map[string]string
				}
				Functions map[string]string
			}
		}
	}
	if block == nil || yaml.Unmarshal([]byte(block[1]), &config) != nil || len(config.Plugins) != 1 {
		t.Fatal("no configuration")
	}
	c := config.Plugins[0].Config
	body := map[string]string{}
	for key, value := range c.Request.Body {
		body[key] = strings.ReplaceAll(value, "$(content)", english)
	}
	data, _ := json.Marshal(body)
	status, got := post(t, serving(t, Options{Block: true})+strings.TrimPrefix(c.Request.URL, "http://127.0.0.1:8030"), string(data))
	var reply map[string]any
	if err := json.Unmarshal([]byte(got), &reply); err != nil || status != 200 || reply["action"] != Block {
		t.Errorf("%d %s", status, got)
	}
	for _, field := range regexp.MustCompile(`resp\.(\w+)`).FindAllStringSubmatch(c.Functions["judge"], -1) {
		if reply[field[1]] == nil {
			t.Errorf("the function reads %s, which is not in %s", field[1], got)
		}
	}
}

// Alert rules, the dashboard and the manual name metrics that there are, and files are what they should be.
func TestExamples(t *testing.T) {
	s := newServer(Options{})
	asks(s, "/v1/check", record(german, "de"))
	s.count(func() { s.refusals["400"]++; s.alarms["de"]++ })
	metrics := asks(s, "/metrics", "")
	for _, name := range []string{examples + "guard-alerts.yml", examples + "guard-dashboard.json", "../../docs/guard.md"} {
		for _, metric := range regexp.MustCompile(`crosstalk_guard_\w+|process_\w+`).FindAllString(read(t, name), -1) {
			if !strings.Contains(metrics, "\n"+metric) {
				t.Errorf("%s: there is no metric %s", name, metric)
			}
		}
	}
	for name, want := range map[string]string{"guard-alerts.yml": "groups", "guard-compose.yml": "services", "guard-kubernetes.yaml": "kind"} {
		d := yaml.NewDecoder(bytes.NewReader([]byte(read(t, examples+name))))
		n := 0
		for ; ; n++ {
			var doc map[string]any
			if err := d.Decode(&doc); err == io.EOF {
				break
			} else if err != nil || doc[want] == nil {
				t.Fatalf("%s: %v, %v", name, doc, err)
			}
		}
		if n == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	if !json.Valid([]byte(read(t, examples+"guard-dashboard.json"))) {
		t.Error("the dashboard is not JSON")
	}
}

// Prometheus takes the alert rules, and each panel of the dashboard asks for something that it can compute.
func TestPrometheus(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	if said, err := exec.CommandContext(t.Context(), promtool, "check", "rules", examples+"guard-alerts.yml").CombinedOutput(); err != nil ||
		!strings.Contains(string(said), "SUCCESS: 4 rules found") {
		t.Errorf("%v\n%s", err, said)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, examples+"guard-dashboard.json")), &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Fatal(dashboard, err)
	}
	rules := "groups: [{name: dashboard, rules: [\n"
	for _, panel := range dashboard.Panels {
		if panel.Title == "" || len(panel.Targets) == 0 {
			t.Errorf("a panel without a title, or a query: %+v", panel)
		}
		for _, target := range panel.Targets {
			expr, _ := json.Marshal(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
			rules += fmt.Sprintf("  {record: \"panel:%d\", expr: %s},\n", strings.Count(rules, "\n"), expr)
		}
	}
	file := filepath.Join(t.TempDir(), "panels.yml")
	if err := os.WriteFile(file, []byte(rules+"]}]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
