package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

// flags are those of the tree that the tests configure.
type flags struct {
	models, params []string
	rates          []float64
	samples        int
	tie            float64
	wait           time.Duration
	format, text   string
	dry            bool
}

// tree is: app ask soup|bread, app look, app power, and commands without
// settings. look has a format of its own, ask --power is called like a command.
// The command that was executed leaves its flags.
func tree() (root *cobra.Command, executed *flags) {
	executed = &flags{}
	of := map[string]*flags{}
	command := func(use string, subs ...*cobra.Command) *cobra.Command {
		of[use] = &flags{}
		c := &cobra.Command{Use: use, Short: "Try " + use,
			RunE: func(*cobra.Command, []string) error { *executed = *of[use]; return nil }}
		c.AddCommand(subs...)
		return c
	}
	soup, bread, look, power := command("soup"), command("bread"), command("look"), command("power")
	for _, c := range []*cobra.Command{soup, bread} {
		f := of[c.Name()]
		f.models, f.wait, f.format = []string{c.Name()}, 2*time.Minute, "table"
		Declare(c, "", []Flag{
			{Name: "model,m", To: &f.models, Help: "who answers"},
			{Name: "param", To: &f.params, Help: "a further setting", Whole: true},
			{Name: "samples", To: &f.samples, Help: "how many"},
			{Name: "wait", To: &f.wait, Help: "how long"},
			{Name: "format", To: &f.format, Help: "table, json or csv", Choices: []string{"table", "json", "csv"}},
			{Name: "dry-run", To: &f.dry, Help: "only count"},
		})
	}
	Declare(soup, "", []Flag{{Name: "power", To: &of["soup"].tie, Help: "of the stove"}})
	of["look"].rates, of["look"].format = []float64{0.5, 0.25}, "page"
	Declare(look, "", []Flag{
		{Name: "format", To: &of["look"].format, Help: "page or json", Choices: []string{"page", "json"}},
		{Name: "power", To: &of["look"].tie, Help: "of the stove"},
		{Name: "rate", To: &of["look"].rates, Help: "how often"},
	})
	look.Flags().StringVar(&of["look"].text, "hidden", "", "")
	look.Flags().MarkHidden("hidden")
	power.Flags().StringVar(&of["power"].text, "text", "", "any words")
	written := command("init")
	written.Flags().Bool("force", false, "")
	written.Annotations = map[string]string{None: ""}
	hidden := command("hidden")
	hidden.Flags().Bool("loud", false, "")
	hidden.Hidden = true
	root = command("app", command("ask", soup, bread), look, power, written, hidden, command("plain"))
	root.PersistentFlags().String(FileFlag, "", "the file")
	root.SilenceErrors, root.SilenceUsage = true, true
	return root, executed
}

// files are good ones, and bad ones with the errors they get.
var files = []struct{ text, want string }{
	{"", ""},
	{"# nothing\n", ""},
	{"ask:\n  soup:\n    # nothing\n", ""},
	{"format: json\nask: {model: a, soup: {model: [b, 7, \"c,d\"], samples: 0x10, wait: 90s, dry-run: true}}\n", ""},
	{"\ufefflook:\r\n  rate: [0, 1e-3, .5]\r\n", ""},
	{"look: {rate: 1e-3}", ""},
	{"power:\n  text: |\n    two\n    lines\n", ""},
	{"power: {text: 0.50}", ""},
	{"power: 2.5", ""},
	{"ask: {power: 3, param: \"a=1,2\"}", ""},
	{"model: []", ""},
	{"---\nsamples: 1\n# the end\n", ""},
	{"model: some/sk-shaped-name-of-a-model-7", ""},

	{"fromat: json", "f:1: fromat: unknown command or flag; did you mean format?"},
	{"ask:\n  soup:\n    dry_run: true", "f:3: ask.soup.dry_run: unknown command or flag of ask soup; did you mean dry-run?"},
	{"ask: {rate: 1}", "f:1: ask.rate: unknown command or flag of ask; expected look.rate"},
	{"soup: {samples: 1}", "f:1: soup: unknown command or flag; expected ask.soup"},
	{"ask.soup: {samples: 1}", "f:1: ask.soup: unknown command or flag; put the name of each command on its own line"},
	{"config: x", "f:1: config: unknown command or flag"},
	{"help: true", "f:1: help: unknown command or flag"},
	{"init: {force: true}", "f:1: init: unknown command or flag"},
	{"hidden: {loud: true}", "f:1: hidden: unknown command or flag"},
	{"look: {hidden: x}", "f:1: look.hidden: unknown command or flag of look"},
	{"ask:\n  soup: {heat: 1}", "f:2: ask.soup.heat: was removed: use --power"},
	{"heat: 1", "f:1: heat: was removed: use --power"},
	{"ask: {tea: {samples: 1}}", "f:1: ask.tea: was removed: use 'ask soup'"},
	{"7: x", "f:1: 7: unknown command or flag"},
	{"ask: {api_key: x}", "f:1: ask.api_key: keys do not belong in a file; set them in the environment"},
	{"OPENAI_API_KEY: x", "f:1: OPENAI_API_KEY: keys do not belong in a file; set them in the environment"},
	{"param:\n- a=1\n- key=sk-abcdefghijklmnop123456", "f:3: param: this looks like an API key; keys do not belong in a file; set them in the environment"},
	{"samples: many", `f:1: samples: expected a whole number, found "many"`},
	{"samples: \"5\"", `f:1: samples: expected a whole number, found "5"`},
	{"samples: 1.5", "f:1: samples: expected a whole number, found 1.5"},
	{"samples:\n- 1", "f:2: samples: expected a whole number, found a list"},
	{"samples: {a: 1}", "f:1: samples: expected a whole number, found a map"},
	{"samples:", "f:1: samples: expected a whole number, found nothing"},
	{"wait: 90", "f:1: wait: expected a duration such as 90s or 2m, found 90"},
	{"dry-run: yes", `f:1: dry-run: expected true or false, found "yes"`},
	{"look:\n  rate:\n  - 1\n  - x", `f:4: look.rate: expected a number in the list, found "x"`},
	{"look: {rate: .nan}", "f:1: look.rate: expected a number, or a list, found .nan"},
	{"look: {rate: inf}", `f:1: look.rate: expected a number, or a list, found "inf"`},
	{"look: {rate: '1'}", `f:1: look.rate: expected a number, or a list, found "1"`},
	{"model: a, b", `f:1: model: expected a list, [a, b], or ["a, b"] if it is one value, found "a, b"`},
	{"model: [[a]]", "f:1: model: expected text in the list, found a list"},
	{"model: true", "f:1: model: expected text, or a list, found true"},
	{"format: xml", `f:1: format: expected table, json or csv; or page or json, found "xml"`},
	{"look: {format: csv}", `f:1: look.format: expected page or json, found "csv"`},
	{"ask: 5", "f:1: ask: expected the names of commands and flags, found 5"},
	{"- ask", "f:1: expected the names of commands and flags, found a list"},
	{"plain: {x: 1}", "f:1: plain.x: unknown command or flag of plain"},
	{"power: x", `f:1: power: expected a number, found "x"`},
	{"model: &m a", "f:1: anchors and aliases are not supported: write the value out"},
	{"samples: 1\n---\nsamples: 2", "f:2: a second document begins here; expected one set of keys per file"},
	{"samples: 1\nsamples: 2", `f:2: duplicate key "samples" (first used in line 1)`},
	{"ask: [", "f:1: sequence end token ']' not found"},
	{"one: 1\nask:\n  two: 2", "f:1: one: unknown command or flag\nf:3: ask.two: unknown command or flag of ask"},
}

// removed are a flag and a command that the tree no longer has.
func removed(name string) string {
	return map[string]string{"--heat": "use --power", "ask tea": "use 'ask soup'"}[name]
}

func TestParse(t *testing.T) {
	for _, c := range files {
		root, _ := tree()
		_, err := Parse("f", []byte(c.text), root, removed)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// The schema and the reader agree on what is right.
func TestSchema(t *testing.T) {
	root, _ := tree()
	schema := compile(t, Schema(root, "title", "about"))
	for _, c := range files {
		if strings.Contains(c.text, "---") || strings.Contains(c.text, "sk-") || strings.Contains(c.text, "&") {
			continue // of which a schema knows nothing
		}
		v, err := decode(c.text)
		if err != nil {
			continue
		}
		if err := schema.Validate(v); (err == nil) != (c.want == "") {
			t.Errorf("%q: the schema says %v; want %q", c.text, err, c.want)
		}
	}
	var s struct {
		Definitions map[string]struct {
			Description string
			Default     any
			Enum        []string
		}
	}
	if err := json.Unmarshal(Schema(root, "title", "about"), &s); err != nil {
		t.Fatal(err)
	}
	if d := s.Definitions["rate"]; d.Description != "how often" || len(d.Default.([]any)) != 2 {
		t.Errorf("rate is %v", d)
	}
	if d := s.Definitions["format"]; d.Default != "table" || !slices.Equal(d.Enum, []string{"table", "json", "csv"}) {
		t.Errorf("format is %v", d)
	}
	if d := s.Definitions["wait"]; d.Default != "2m" {
		t.Errorf("wait is %v", d)
	}
}

// The published file suits the published schema.
func TestPublished(t *testing.T) {
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	schema := compile(t, read("crosstalk.schema.json"))
	text := string(read("crosstalk.yaml"))
	for suits, text := range map[bool]string{true: text, false: strings.ReplaceAll(text, "suite: ", "siute: ")} {
		values, err := decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(values); (err == nil) != suits {
			t.Errorf("the schema says %v", err)
		}
	}
}

func compile(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var plainExponent = regexp.MustCompile(`\b1e-3\b`)

// decode reads YAML as an editor does, for which 1e-3 is a number.
func decode(text string) (any, error) {
	text = plainExponent.ReplaceAllString(strings.TrimPrefix(text, "\ufeff"), "0.001")
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(b))
}

// inDir runs the test in a directory with files.
func inDir(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// execute runs a command of the tree with what Load applied.
func execute(args ...string) (*flags, Applied, error) {
	root, f := tree()
	var applied Applied
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) (err error) {
		applied, err = Load(c, "app.yaml", removed)
		return err
	}
	root.SetArgs(args)
	return f, applied, root.Execute()
}

func TestPrecedence(t *testing.T) {
	inDir(t, map[string]string{
		"app.yaml":   "samples: 1\nwait: 3s\nformat: json\npower: {text: x}\nask:\n  samples: 2\n  model: [a, \"b,c\"]\n  param: x=1,2\n  soup: {samples: 3, dry-run: true}\n",
		"other.yaml": "samples: 4",
		"bad.yaml":   "samples: x",
		"csv.yaml":   "ask: {samples: 1}\nformat: csv",
	})
	f, applied, err := execute("ask", "soup", "--wait", "5s")
	if err != nil {
		t.Fatal(err)
	}
	if f.samples != 3 || f.wait != 5*time.Second || f.format != "json" || !f.dry ||
		!slices.Equal(f.models, []string{"a", "b,c"}) || !slices.Equal(f.params, []string{"x=1,2"}) {
		t.Errorf("set are %+v", f)
	}
	if want := "app.yaml sets --model, --param, --samples, --format, --dry-run"; applied.String() != want {
		t.Errorf("%s; want %s", applied, want)
	}
	if f, _, err := execute("ask", "bread"); err != nil || f.samples != 2 || f.dry || f.wait != 3*time.Second {
		t.Errorf("set are %+v, %v", f, err)
	}
	if f, _, err := execute("look"); err != nil || f.format != "json" || f.samples != 0 {
		t.Errorf("set are %+v, %v", f, err)
	}
	if f, _, err := execute("ask", "soup", "--config", "other.yaml"); err != nil || f.samples != 4 || f.dry {
		t.Errorf("set are %+v, %v", f, err)
	}
	if f, applied, err := execute("ask", "soup", "--config="); err != nil || f.samples != 0 || applied.String() != "" {
		t.Errorf("set are %+v, %v", f, err)
	}
	for _, c := range []struct{ args, want string }{
		{"ask soup --config missing.yaml", "open missing.yaml: no such file or directory"},
		{"ask soup --config .", "read .: is a directory"},
		{"plain --config bad.yaml", `bad.yaml:1: samples: expected a whole number, found "x"`},
		{"look --config csv.yaml", `csv.yaml:2: format: expected page or json, found "csv" (for 'app look')`},
	} {
		if _, _, err := execute(strings.Fields(c.args)...); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v; want %s", c.args, err, c.want)
		}
	}
}

// A file that nobody named is none of the business of a command without
// settings, and of that which writes it.
func TestUnconcerned(t *testing.T) {
	inDir(t, map[string]string{"app.yaml": "samples: x"})
	for _, args := range [][]string{{"plain"}, {"init", "--config", "app.yaml"}, {"hidden"}, {"help", "look"}, {"look", "--help"}} {
		root, _ := tree()
		root.SetOut(&bytes.Buffer{})
		root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
			_, err := Load(c, "app.yaml", removed)
			return err
		}
		root.SetArgs(args)
		if err := root.Execute(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, _, err := execute("look"); err == nil {
		t.Error("a bad file is taken")
	}
}

func TestExplain(t *testing.T) {
	inDir(t, map[string]string{"app.yaml": "ask:\n  samples: -7\n  model: [a,\n    some-file.txt]\n  wait: 3s\n"})
	_, applied, err := execute("ask", "soup")
	if err != nil {
		t.Fatal(err)
	}
	const samples, model = "\napp.yaml:2: ask.samples is set here", "\napp.yaml:3: ask.model is set here"
	for text, want := range map[string]string{
		"--samples is -7; expected more":  samples,
		"too few samples: -7":             samples,
		"open some-file.txt: no such":     model,
		`the model "a" is unknown`:        model,
		"--model and --samples disagree":  model + samples,
		"--sample is unknown":             "",
		"--samples-of is unknown":         "",
		"wait a minute: the disk is full": "",
		"a disk is full":                  "",
	} {
		if got := applied.Explain(os.ErrClosed); got != os.ErrClosed {
			t.Errorf("explained as %v", got)
		}
		if got := applied.Explain(errorText(text)).Error(); got != text+want {
			t.Errorf("%q; want %q", got, text+want)
		}
	}
	if applied.Explain(nil) != nil {
		t.Error("nil is explained")
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestTemplate(t *testing.T) {
	root, _ := tree()
	got := string(Template(root, []string{"format", "wait"}))
	want := `# Try ask
ask:
  #model:        # text, or a list: who answers
  #param:        # text, or a list: a further setting
  #samples:      # a whole number: how many
  wait: 2m       # how long
  format: table  # table, json or csv
  #dry-run: false  # only count

  # Try soup
  soup:
    #power:  # a number: of the stove

# Try look
look:
  format: page  # page or json
  #power:        # a number: of the stove
  #rate: [0.5, 0.25]  # how often

# Try power
power:
  #text:  # text: any words
`
	if squeeze(got) != squeeze(want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	uncommented := regexp.MustCompile(`(?m)^( *)#(\S+: \S)`).ReplaceAllString(got, "$1$2")
	for _, text := range []string{got, strings.ReplaceAll(uncommented, "#", " #")} {
		if _, err := Parse("f", []byte(text), root, removed); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func squeeze(s string) string { return regexp.MustCompile(` {2,}#`).ReplaceAllString(s, " #") }

func TestQuoted(t *testing.T) {
	for _, text := range []string{"a", "openai:gpt-4o", "reference:leaky?rate=0.6&seed=1", "true", "No", "7", "a b", "a: b", "#x", "", "a,b", "{x}", "-", "lpr>=0.98", "ä", "x\ny", "~", "sbert:org/name@main", "../x", ".5", "null", "a:", ":a", "1e3", "0x1"} {
		var got []any
		if err := yaml.Unmarshal([]byte("["+quoted(text)+"]"), &got); err != nil || len(got) != 1 || got[0] != text {
			t.Errorf("%q is read back as %v, %v", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range files {
		f.Add(c.text)
	}
	f.Add(strings.Repeat("[", 5000))
	f.Add(strings.Repeat("{a: ", 1000))
	f.Add(strings.Repeat("k: []\n", 1000))
	root, _ := tree()
	f.Fuzz(func(t *testing.T, text string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := Parse("f", []byte(text), root, removed)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20+4096*uint64(len(text)) {
			t.Errorf("%d bytes took %d bytes of memory", len(text), used)
		}
		if (file == nil) == (err == nil) {
			t.Fatalf("%v and %v", file, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("an error without a line: %v", err)
		}
	})
}
