package suite

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"
	"crosstalk/suite/datasets"

	"github.com/xuri/excelize/v2"
)

// mirror serves files by name, whatever their folder, to datasets.Source.Pull.
func mirror(t *testing.T, files map[string][]byte) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := files[path.Base(r.URL.Path)]; ok {
			w.Write(content)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("CROSSTALK_CACHE", t.TempDir())
	t.Setenv("CROSSTALK_MIRROR", server.URL)
}

// workbook has a first row of column names.
func workbook(t *testing.T, rows ...[]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := f.SetSheetRow("Sheet1", cell, &rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pullAs pulls a source of the catalogue with other contents of its files, and
// loads the suite.
func pullAs(t *testing.T, name string, files map[string][]byte) (*Suite, error) {
	t.Helper()
	mirror(t, files)
	from, ok := datasets.Named(datasets.Suite, name)
	if !ok {
		t.Fatalf("%s is not in the catalogue", name)
	}
	from.Files = append([]datasets.File(nil), from.Files...)
	for i, f := range from.Files {
		sum := sha256.Sum256(files[f.Name])
		from.Files[i].Size, from.Files[i].SHA256 = int64(len(files[f.Name])), hex.EncodeToString(sum[:])
	}
	if _, err := from.Pull(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return loadPulled(from)
}

func TestPullPromptList(t *testing.T) {
	s, err := pullAs(t, "gonen-2024", map[string][]byte{"semantic_leakage_prompts.txt": []byte(
		"Complete the sentence: Her aunt grows\nComplete the sentence: Her aunt adores hedgehogs. Her aunt grows\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := []crosstalk.Item{{ID: "line-2", Cluster: "Her aunt grows", Labels: map[string]string{"language": "en"},
		Pair: &crosstalk.Pair{Concept: "Her aunt adores hedgehogs", Test: "Her aunt adores hedgehogs. Her aunt grows", Control: "Her aunt grows"}}}
	if !reflect.DeepEqual(s.Items.List(), want) || s.Name != "gonen-2024" || s.Prefix[crosstalk.Chat] != "Complete the sentence: " || s.License == "" {
		t.Errorf("%+v %+v", s, s.Items)
	}
}

// The two workbooks become one suite, whose ids tell them apart.
func TestPullWorkbooks(t *testing.T) {
	head := []any{"prompt", "n_control", "concept", "is_control_item", "category", "generation_1"}
	files := map[string][]byte{
		"color_prompts_qwen_3_instr.xlsx": workbook(t, head,
			[]any{"Complete the sentence: The kite is", "", "none", 1, 2, "x"},
			[]any{"Complete the sentence: The roof is teal. The kite is", 0, "teal", 0, 2, "y"},
			[]any{"Complete the sentence: The roof is leaky. The kite is", "", "leaky", "true", 2, "z"}),
		"initial_prompts_qwen_3_instr.xlsx": workbook(t, head[:4],
			[]any{"Complete the sentence: The kite is", "", "none", 1},
			[]any{"Complete the sentence: He met two otters. The kite is", 0, "otters", 0}),
	}
	s, err := pullAs(t, "smilga-2025", files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range s.Items.All() {
		got = append(got, fmt.Sprintln(i.ID, i.Pair.Concept, i.Labels["dataset"], i.Labels["language"], i.Labels["category"], i.Pair.Control))
	}
	want := []string{
		"color/row-1 teal color en 2 Complete the sentence: The kite is\n",
		"initial/row-1 otters initial en  Complete the sentence: The kite is\n",
	}
	skipped := []string{"color_prompts_qwen_3_instr.xlsx: line 4: no test has this control"}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s.Unusable, skipped) || s.Name != "smilga-2025" ||
		s.Clusters() != 1 || PrefixOf(s.Prefix, crosstalk.Chat) != "" {
		t.Errorf("%+v %q, skipped %q", s, got, s.Unusable)
	}
	files["initial_prompts_qwen_3_instr.xlsx"] = workbook(t, []any{"prompt", "concept"}, []any{"a", "b"})
	if _, err := pullAs(t, "smilga-2025", files); err == nil || !strings.Contains(err.Error(), `initial_prompts_qwen_3_instr.xlsx:1: has no column "control_prompt"`) {
		t.Error(err)
	}
}

// The papers' own files have the checksums of the catalogue and become whole
// suites.
func TestPullPapers(t *testing.T) {
	files := map[string][]byte{}
	for name, file := range map[string]string{"semantic_leakage_prompts.txt": "gonen2024_prompts.txt",
		"color_prompts_qwen_3_instr.xlsx": "color_prompts_qwen_3_instr.xlsx", "initial_prompts_qwen_3_instr.xlsx": "initial_prompts_qwen_3_instr.xlsx"} {
		content, err := os.ReadFile(shared.File(t, "leakage/"+file))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	mirror(t, files)
	for name, want := range map[string]string{"gonen-2024": "109 items, 31 controls, 0 skipped", "smilga-2025": "818 items, 53 controls, 24 skipped"} {
		from, _ := datasets.Named(datasets.Suite, name)
		if _, err := from.Pull(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d items, %d controls, %d skipped", s.Items.Len(), s.Clusters(), len(s.Unusable)); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
		items := map[string]int{}
		for _, i := range s.Items.All() {
			items[i.Labels["dataset"]+i.Labels["category"]]++
		}
		if want := map[string]int{"color1": 330, "color2": 330, "color3": 49, "initial": 109}; name == "smilga-2025" && !reflect.DeepEqual(items, want) {
			t.Errorf("%s: %v; want %v", name, items, want)
		}
	}
}

// Every file of the papers' prompts, with every row that is skipped. Rows that
// are neither tests nor skipped are controls.
func TestEveryFileOfThePapers(t *testing.T) {
	const unused = "no test has this control"
	for _, c := range []struct {
		file                  string
		rows, tests, controls int
		skipped               map[string]int
	}{
		{"gonen2024_prompts.txt", 140, 109, 31, nil},
		{"semantic_leakage_colors.xlsx", 760, 709, 27, map[string]int{unused: 24}},
		{"color_prompts_qwen_05_instr.xlsx", 760, 709, 27, map[string]int{unused: 24}},
		{"color_prompts_qwen_3_instr.xlsx", 760, 709, 27, map[string]int{unused: 24}},
		{"initial_prompts_qwen_05_instr.xlsx", 140, 109, 31, nil},
		{"initial_prompts_qwen_3_instr.xlsx", 140, 109, 31, nil},
		{"smilga_prompts.jsonl", 818, 818, 53, nil},
		{"smilga_generations.jsonl", 1636, 818, 53, nil}, // two models
	} {
		t.Run(c.file, func(t *testing.T) {
			s, err := Load(shared.File(t, "leakage/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			skipped := map[string]int{}
			for _, row := range s.Unusable {
				place, reason, _ := strings.Cut(row, ": ")
				if !strings.HasPrefix(place, "line ") {
					t.Errorf("skipped %q without its line", row)
				}
				skipped[reason]++
			}
			t.Logf("%-34s %5d rows %4d tests %3d controls, skipped: %v", c.file, c.rows, s.Items.Len(), s.Clusters(), skipped)
			if s.Items.Len() != c.tests || s.Clusters() != c.controls || len(skipped) != len(c.skipped) ||
				skipped[unused] != c.skipped[unused] {
				t.Errorf("%d tests, %d controls, skipped %v; want %d, %d, %v", s.Items.Len(), s.Clusters(), skipped, c.tests, c.controls, c.skipped)
			}
			if !strings.HasSuffix(c.file, ".jsonl") && c.tests+c.controls+c.skipped[unused] != c.rows {
				t.Errorf("%d rows, %d of them explained", c.rows, c.tests+c.controls+c.skipped[unused])
			}
		})
	}
	for _, file := range []string{"relatedness_pairs.tsv", "relatedness_triples.tsv"} { // words without prompts
		if _, err := Load(shared.File(t, "leakage/"+file)); err == nil || !strings.Contains(err.Error(), file+`:1: has no column "prompt"`) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Every record of every file of the benchmark is an item.
func TestEveryFileOfTheBenchmark(t *testing.T) {
	archive := shared.File(t, "lcb/test_sets.zip")
	s, err := Load(archive)
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]int{}
	for _, i := range s.Items.All() {
		items[path.Dir(i.ID)]++
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := 0
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".csv") || strings.HasPrefix(f.Name, "__MACOSX") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(in).ReadAll()
		if err = errors.Join(err, in.Close()); err != nil {
			t.Fatal(f.Name, err)
		}
		files++
		parts := strings.Split(strings.TrimSuffix(f.Name, ".csv"), "/")
		found := 0
		for cell, n := range items {
			if at := strings.Split(cell, "/"); at[0] == parts[len(parts)-3] &&
				at[2] == records[1][column(records[0], "language")] && at[1] == records[1][column(records[0], "source")] {
				found += n
			}
		}
		t.Logf("%-50s %4d records %4d items", f.Name, len(records)-1, found)
		if found != len(records)-1 {
			t.Errorf("%s: %d items of %d records", f.Name, found, len(records)-1)
		}
	}
	if s.Items.Len() != 6586 || len(s.Unusable) != 0 || files == 0 {
		t.Errorf("%d items of %d files, skipped %q", s.Items.Len(), files, s.Unusable)
	}
}

func column(header []string, name string) int {
	for i, h := range header {
		if h == name {
			return i
		}
	}
	return -1
}
