package embedded

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/measure/langid"
)

var _ langid.Identifier = Identifier()

func TestSize(t *testing.T) {
	if len(model) > 1_000_000 {
		t.Errorf("model of %d bytes, expected at most 1 MB", len(model))
	}
	if got := len(Identifier().Labels()); got != 75 {
		t.Errorf("%d labels, expected 75", got)
	}
	// README.md tells how to make this very model.
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(model)); !strings.Contains(string(readme), sum) {
		t.Errorf("README.md does not give the model's SHA-256 %s", sum)
	}
}

// Sentences of ours in the languages of the benchmark, as its protocols would
// show them.
func TestLanguages(t *testing.T) {
	for language, line := range map[string]string{
		"ar": "اشتريت أمس خبزا وجبنا من السوق القريب من بيتنا",
		"de": "Gestern habe ich auf dem Markt frisches Brot und Käse gekauft",
		"en": "Yesterday I bought fresh bread and cheese at the market near our house",
		"es": "Ayer compré pan fresco y queso en el mercado cerca de nuestra casa",
		"fr": "Hier jai acheté du pain frais et du fromage au marché près de chez nous",
		"hi": "कल मैंने हमारे घर के पास वाले बाज़ार से ताज़ी रोटी और पनीर खरीदा",
		"id": "Kemarin saya membeli roti segar dan keju di pasar dekat rumah kami",
		"it": "Ieri ho comprato pane fresco e formaggio al mercato vicino a casa nostra",
		"ja": "昨日は家の近くの市場で焼きたてのパンとチーズを買いました",
		"ko": "어제 우리 집 근처 시장에서 신선한 빵과 치즈를 샀습니다",
		"pt": "Ontem comprei pão fresco e queijo no mercado perto da nossa casa",
		"ru": "Вчера я купил свежий хлеб и сыр на рынке рядом с нашим домом",
		"tr": "Dün evimizin yanındaki pazardan taze ekmek ve peynir aldım",
		"vi": "Hôm qua tôi đã mua bánh mì tươi và phô mai ở chợ gần nhà",
		"zh": "昨天我在家附近的市场买了新鲜的面包和奶酪",
	} {
		if g := Identifier().Identify(line); g.Language != language || g.Probability < 0.5 {
			t.Errorf("%s identified as %v", language, g)
		}
	}
	if g := Identifier().Identify(" "); g != (langid.Guess{}) {
		t.Errorf("white space identified as %v", g)
	}
}

// answer is a record of the benchmark's golden files. Lines without a label
// were too short to be checked.
type answer struct {
	Model, Task, Source, Language string
	LineError                     bool `json:"line_error"`
	Lines                         []struct{ Text, Label string }
}

func answers(t *testing.T) []answer {
	var all []answer
	for _, name := range shared.Names(t, "lcb/golden") {
		if !strings.Contains(name, "_tokens") {
			all = append(all, shared.Lines[answer](t, "lcb/golden/"+name)...)
		}
	}
	return all
}

// TestAgreement compares the model with lid.176.ftz on the recorded answers of
// the Language Confusion Benchmark. It was not tuned on them.
func TestAgreement(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures, one after another")
	}
	all := answers(t)
	type cell struct{ model, task, language, source string }
	type counts struct{ answers, reference, ours float64 } // answers; right ones
	cells := map[cell]*counts{}
	var lines, agreed int
	for _, a := range all {
		checked, wrong := false, false
		for _, line := range a.Lines {
			if line.Label == "" {
				continue
			}
			g := Identifier().Identify(line.Text)
			checked = true
			wrong = wrong || g.Language != a.Language || g.Probability <= 0.3
			lines++
			if g.Language == line.Label {
				agreed++
			}
		}
		if !checked {
			continue
		}
		key := cell{a.Model, a.Task, a.Language, a.Source}
		c := cells[key]
		if c == nil {
			c = &counts{}
			cells[key] = c
		}
		c.answers++
		if !wrong {
			c.ours++
		}
		if !a.LineError {
			c.reference++
		}
	}
	agreement := float64(agreed) / float64(lines)
	t.Logf("agreement with lid.176.ftz on %d lines of %d answers: %.2f %%", lines, len(all), 100*agreement)
	if lines < 60_000 || agreement < 0.972 {
		t.Errorf("agreement %.4f on %d lines, expected at least 0.972 on more than 60,000", agreement, lines)
	}

	// Averages as in the benchmark: over sources, then over languages.
	type average struct{ model, task string }
	perLanguage := map[average]map[string][][2]float64{}
	for key, c := range cells {
		a := average{key.model, key.task}
		if perLanguage[a] == nil {
			perLanguage[a] = map[string][][2]float64{}
		}
		perLanguage[a][key.language] = append(perLanguage[a][key.language],
			[2]float64{c.reference / c.answers, c.ours / c.answers})
	}
	var total float64
	for a, languages := range perLanguage {
		var reference, ours float64
		for _, sources := range languages {
			for _, lpr := range sources {
				reference += 100 * lpr[0] / float64(len(sources)*len(languages))
				ours += 100 * lpr[1] / float64(len(sources)*len(languages))
			}
		}
		t.Logf("LPR %-18s %-13s lid.176.ftz %6.2f  ours %6.2f", a.model, a.task, reference, ours)
		total += math.Abs(ours-reference) / float64(len(perLanguage))
	}
	t.Logf("mean difference of the %d averages: %.2f points", len(perLanguage), total)
	if len(perLanguage) != 8 || total >= 1 {
		t.Errorf("averages differ by %.2f points in the mean of %d, expected less than 1 of 8", total, len(perLanguage))
	}
}
