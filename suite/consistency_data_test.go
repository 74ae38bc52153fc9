package suite_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/consistency/read"
	"crosstalk/suite"
)

// What the embedded tasks promise: enough items, balanced, with instructions in
// five languages.
func TestEmbeddedTasks(t *testing.T) {
	s, err := suite.Load("consistency")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range suite.Check(s) {
		t.Error(r)
	}
	want := map[string]int{"paraphrase": 120, "inference": 120, "questions": 60}
	if len(s.Tasks) != len(want) || s.License != "Apache-2.0" {
		t.Errorf("%d tasks, %s", len(s.Tasks), s.License)
	}
	texts := map[string]string{}
	for _, task := range s.Tasks {
		for _, language := range []string{"en", "de", "zh", "fr", "es"} {
			if len(task.Instructions[language].Words) == 0 {
				t.Errorf("%s: no instruction in %s", task.Name, language)
			}
		}
		n, classes, byCategory, clusters := 0, map[string]int{}, map[string]map[string]int{}, map[string]int{}
		for _, item := range s.Items.All() {
			in := item.Input
			if in.Task != task.Name {
				continue
			}
			n++
			gold, category := in.Gold["en"], item.Labels["category"]
			classes[gold]++
			clusters[item.Cluster]++
			if byCategory[category] == nil {
				byCategory[category] = map[string]int{}
			}
			byCategory[category][gold]++
			english := in.Texts["en"]
			if !slices.Contains(task.Classes, gold) || category == "" || len(english) != 2 || english[0] == english[1] ||
				item.Labels["language"] != "en" {
				t.Errorf("%s is not complete", item.ID)
			}
			for i, text := range english {
				cluster := item.Cluster
				if other, again := texts[text]; again && (i > 0 || other != cluster) {
					t.Errorf("%s: %q stands in %s too", item.ID, text, other)
				}
				texts[text] = cluster
				if last := text[len(text)-1:]; last != "." && last != "?" || strings.Contains(text, "  ") || strings.TrimSpace(text) != text {
					t.Errorf("%s: %q", item.ID, text)
				}
			}
		}
		if n < want[task.Name] {
			t.Errorf("%s: %d items, want %d", task.Name, n, want[task.Name])
		}
		for _, class := range task.Classes {
			if math.Abs(float64(classes[class])-float64(n)/float64(len(task.Classes))) > 0.5 {
				t.Errorf("%s: %d of %d are %s", task.Name, classes[class], n, class)
			}
			for category, golds := range byCategory {
				if golds[class] < 3 {
					t.Errorf("%s, %s: %d are %s", task.Name, category, golds[class], class)
				}
			}
		}
		if len(clusters) < 30 || len(byCategory) < 5 {
			t.Errorf("%s: %d clusters, %d categories", task.Name, len(clusters), len(byCategory))
		}
	}
}

// Each answer word, said alone or as models say it, is read as its class.
func TestAnswerWords(t *testing.T) {
	for _, name := range []string{"data/consistency", "tasks/paws-x", "tasks/xnli", "tasks/boolq"} {
		s, err := suite.LoadTasks(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range s.Tasks {
			for language, instruction := range task.Instructions {
				class := map[string]string{}
				var words []string
				for _, w := range instruction.Words {
					class[w.Word] = w.Class
					words = append(words, w.Word)
				}
				for _, w := range instruction.Words {
					for _, answer := range []string{w.Word, upperFirst(w.Word), w.Word + ".", upperFirst(w.Word) + ".", w.Word + "。",
						`"` + w.Word + `"`, "“" + w.Word + "”", upperFirst(w.Word) + "\n"} {
						for protocol, reader := range read.Readers {
							if got := reader(answer, words); class[got.Label] != w.Class {
								t.Errorf("%s, %s, %s, %s: %q is read as %q (%s)", name, task.Name, language, protocol, answer, got.Label, got.Rule)
							}
						}
					}
				}
			}
		}
	}
}

func upperFirst(s string) string {
	r := []rune(s)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// The prompts, put together as a model gets them, read as they should.
func TestLayouts(t *testing.T) {
	s, err := suite.Load("consistency")
	if err != nil {
		t.Fatal(err)
	}
	for task, want := range map[string]string{
		"paraphrase": `Bedeuten diese beiden Sätze dasselbe? Satz 1: "The nurse lent the carpenter her umbrella." Satz 2: "The carpenter borrowed the nurse's umbrella." Antworte mit "ja" oder "nein".`,
		"questions":  `Beantworte die Frage zum Text. Text: "The mill at Harrow Ford was built in 1788 and burned down in 1902. It was rebuilt on the same foundations two years later and still grinds flour today." Frage: Is the mill at Harrow Ford still in use? Antworte mit "ja" oder "nein".`,
	} {
		i := slices.IndexFunc(s.Tasks, func(t crosstalk.Task) bool { return t.Name == task })
		j := slices.IndexFunc(s.Items.List(), func(i crosstalk.Item) bool { return i.Input.Task == task })
		var pairs []string
		for part, text := range s.Tasks[i].Instructions["de"].Parts {
			pairs = append(pairs, "{"+part+"}", text)
		}
		for k, field := range s.Tasks[i].Fields {
			pairs = append(pairs, "{"+field+"}", s.Items.At(j).Input.Texts["en"][k])
		}
		if got := strings.NewReplacer(pairs...).Replace(s.Tasks[i].Layout); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
