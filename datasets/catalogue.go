package datasets

// Origin of the checksums: those of test_sets.zip and lid.176.ftz were computed
// from copies of the files; that of lid.176.bin is from copies on the Hugging Face
// Hub; the others are from the data set descriptions of Hugging Face's datasets
// library, that of XNLI also from TensorFlow Datasets.
var catalogue = []Source{
	{
		Name: "lcb", Kind: Suite, Instrument: "confusion",
		What:    "the Language Confusion Benchmark: 6,586 prompts in 15 languages, monolingual and cross-lingual",
		License: "see the repository",
		Terms:   "that of the repository for-ai/language-confusion; the prompts from Aya, Dolly, Okapi and ShareGPT are under their own",
		Cite:    "Marchisio et al. 2024, Understanding and Mitigating Language Confusion in LLMs, arXiv:2406.20052",
		Home:    "https://github.com/for-ai/language-confusion",
		Files: []File{{
			Name: "test_sets.zip",
			URLs: []string{
				"https://raw.githubusercontent.com/for-ai/language-confusion/94592802d5dd33e30af2fe57952254a89ab6f683/test_sets.zip",
				"https://raw.githubusercontent.com/for-ai/language-confusion/main/test_sets.zip",
			},
			Size: 821204, SHA256: "3425337489fa65ff15d977e981e9748c86ce8e88ef0f4457ecdb4a65d8702712",
		}},
	},
	{
		Name: "paws-x", Kind: Suite, Instrument: "consistency",
		What:    "PAWS-X: pairs of sentences in 7 languages, paraphrases or not, development and test sets",
		License: "free for any purpose",
		Terms:   "may be freely used for any purpose; acknowledgement of Google LLC as the data source would be appreciated; no warranty",
		Cite:    "Yang et al. 2019, PAWS-X: A Cross-lingual Adversarial Dataset for Paraphrase Identification, arXiv:1908.11828",
		Home:    "https://github.com/google-research-datasets/paws/tree/master/pawsx",
		Files: []File{{
			Name: "x-final.tar.gz",
			URLs: []string{"https://storage.googleapis.com/paws/pawsx/x-final.tar.gz"},
			Size: 30282057, SHA256: "4146db499101d66e68ae4c8ed3cf9dadecd625f44b7d8cf3d4a0fe93afc4fd9f",
			Members: each([]string{"x-final/%s/dev_2k.tsv", "x-final/%s/test_2k.tsv"}, "de", "en", "es", "fr", "ja", "ko", "zh"),
		}},
	},
	{
		Name: "xnli", Kind: Suite, Instrument: "consistency",
		What:    "XNLI: pairs of sentences in 15 languages, entailment, contradiction or neither, development and test sets",
		License: "CC BY-NC 4.0",
		Terms:   "CC BY-NC 4.0: not for commercial use",
		Cite:    "Conneau et al. 2018, XNLI: Evaluating Cross-lingual Sentence Representations, arXiv:1809.05053",
		Home:    "https://github.com/facebookresearch/XNLI",
		Files: []File{{
			Name: "XNLI-1.0.zip",
			URLs: []string{"https://dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip", "https://cims.nyu.edu/~sbowman/xnli/XNLI-1.0.zip"},
			Size: 17865352, SHA256: "4ba1d5e1afdb7161f0f23c66dc787802ccfa8a25a3ddd3b165a35e50df346ab1",
			Members: []string{"XNLI-1.0/xnli.dev.tsv", "XNLI-1.0/xnli.test.tsv"},
		}},
	},
	{
		Name: "boolq", Kind: Suite, Instrument: "consistency",
		What:    "BoolQ: 3,270 English passages with a yes/no question, the development set",
		License: "CC BY-SA 3.0",
		Cite:    "Clark et al. 2019, BoolQ: Exploring the Surprising Difficulty of Natural Yes/No Questions, arXiv:1905.10044",
		Home:    "https://github.com/google-research-datasets/boolean-questions",
		Files: []File{{
			Name: "dev.jsonl",
			URLs: []string{"https://storage.googleapis.com/boolq/dev.jsonl"},
			Size: 2238726, SHA256: "ebc29ea3808c5c611672384b3de56e83349fe38fc1fe876fd29b674d81d0a80a",
		}},
	},
	{
		Name: "lid.176", Kind: Model,
		What:    "fastText's language identifier of 176 languages, with which the figures of Marchisio et al. are made",
		License: lidLicense, Cite: lidCite, Home: lidHome,
		Files: []File{{
			Name: "lid.176.bin",
			URLs: []string{
				"https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.bin",
				"https://huggingface.co/julien-c/fasttext-language-id/resolve/b3f5b370c0cef286d0609420c37cd745c6713c7f/lid.176.bin",
			},
			Size: 131266198, SHA256: "7e69ec5451bc261cc7844e49e4792a85d7f09c06789ec800fc4a44aec362764e",
		}},
	},
	{
		Name: "lid.176.ftz", Kind: Model,
		What:    "the same quantised: a hundredth of the size, less exact in Chinese, Indonesian, Japanese and Portuguese",
		License: lidLicense, Cite: lidCite, Home: lidHome,
		Files: []File{{
			Name: "lid.176.ftz",
			URLs: []string{
				"https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz",
				"https://huggingface.co/julien-c/fasttext-language-id/resolve/b3f5b370c0cef286d0609420c37cd745c6713c7f/lid.176.ftz",
			},
			Size: 938013, SHA256: "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83",
		}},
	},
}

const (
	lidLicense = "CC BY-SA 3.0"
	lidCite    = "Joulin et al. 2016, Bag of Tricks for Efficient Text Classification, arXiv:1607.01759"
	lidHome    = "https://fasttext.cc/docs/en/language-identification.html"
)
