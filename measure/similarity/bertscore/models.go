package bertscore

import "strings"

// layers are the layers that bert_score recommends, by correlation with human judgement on WMT16 (Zhang et al. 2020,
// appendix B, and the table in the reference implementation), for the models that measure/encoder runs.
var layers = map[string]int{
	"bert-base-uncased":                       9,
	"bert-large-uncased":                      18,
	"bert-base-cased-finetuned-mrpc":          9,
	"bert-base-multilingual-cased":            9,
	"bert-base-chinese":                       8,
	"roberta-base":                            10,
	"roberta-large":                           17,
	"roberta-large-mnli":                      19,
	"roberta-base-openai-detector":            7,
	"roberta-large-openai-detector":           15,
	"distilroberta-base":                      5,
	"distilbert-base-uncased":                 5,
	"distilbert-base-uncased-distilled-squad": 4,
	"distilbert-base-multilingual-cased":      5,
	"xlm-roberta-base":                        9,
	"xlm-roberta-large":                       17,
	"allenai/scibert_scivocab_uncased":        8,
	"allenai/scibert_scivocab_cased":          9,
	"nfliu/scibert_basevocab_uncased":         9,
	"SpanBERT/spanbert-base-cased":            8,
	"SpanBERT/spanbert-large-cased":           17,
	"ProsusAI/finbert":                        10,
	"dbmdz/bert-base-turkish-cased":           10,
	"dbmdz/distilbert-base-turkish-cased":     4,

	"princeton-nlp/unsup-simcse-bert-base-uncased":  10,
	"princeton-nlp/unsup-simcse-bert-large-uncased": 18,
	"princeton-nlp/unsup-simcse-roberta-base":       8,
	"princeton-nlp/unsup-simcse-roberta-large":      13,
	"princeton-nlp/sup-simcse-bert-base-uncased":    10,
	"princeton-nlp/sup-simcse-bert-large-uncased":   18,
	"princeton-nlp/sup-simcse-roberta-base":         10,
	"princeton-nlp/sup-simcse-roberta-large":        16,
}

// Layer returns the recommended layer of a model by its name on Hugging Face. Models that were once published without
// an owner have both names.
func Layer(model string) (layer int, ok bool) {
	owner, name, found := strings.Cut(model, "/")
	if found && (owner == "google-bert" || owner == "distilbert" || owner == "FacebookAI" || owner == "openai-community") {
		model = name
	}
	layer, ok = layers[model]
	return layer, ok
}

// ModelFor returns the model that the leakage protocols use for a language, by its ISO 639-1 code; cross-lingual
// prompts use the model for English.
func ModelFor(language string) string {
	switch language {
	case "en":
		return "distilbert-base-uncased"
	case "zh":
		return "bert-base-chinese"
	}
	return "bert-base-multilingual-cased"
}
