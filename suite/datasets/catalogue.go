package datasets

// Origin of the checksums: those of test_sets.zip, the prompts of gonen-2024 and smilga-2025 and lid.176.ftz were
// computed from copies of the files; that of lid.176.bin is from copies on the Hugging Face Hub; the others are from
// the data set descriptions of Hugging Face's datasets library, that of XNLI also from TensorFlow Datasets.
var catalogue = []Source{
	{
		Name: "lcb", Kind: Suite, Instrument: "confusion",
		What:    "the Language Confusion Benchmark: 6,586 prompts in 15 languages, monolingual and cross-lingual",
		License: "see the repository",
		Terms: "that of the repository for-ai/language-confusion; the prompts from Aya, Dolly, Okapi and ShareGPT are " +
			"under their own",
		Cite: "Marchisio et al. 2024, Understanding and Mitigating Language Confusion in LLMs, arXiv:2406.20052",
		Home: "https://github.com/for-ai/language-confusion",
		Files: []File{{
			Name: "test_sets.zip",
			URLs: []string{
				lcb + "94592802d5dd33e30af2fe57952254a89ab6f683/test_sets.zip",
				lcb + "main/test_sets.zip",
			},
			Size: 821204, SHA256: "3425337489fa65ff15d977e981e9748c86ce8e88ef0f4457ecdb4a65d8702712",
		}},
	},
	{
		Name: "gonen-2024", Kind: Suite, Instrument: "leakage",
		What:    "the English prompts of Gonen et al.: 109 test prompts with 31 controls",
		License: "none stated",
		Terms:   "none is stated for the prompts; the MIT licence beside them is that of the web page's template",
		Cite: "Gonen et al. 2024, Does Liking Yellow Imply Driving a School Bus? Semantic Leakage in Language Models, " +
			"arXiv:2408.06518",
		Home: "https://github.com/gonenhila/gonenhila.github.io",
		Files: []File{{
			Name: "semantic_leakage_prompts.txt",
			URLs: []string{
				gonen + "174c4870af67262cb24a56150f60b63121730b18/files/semantic_leakage_prompts.txt",
				"https://gonenhila.github.io/files/semantic_leakage_prompts.txt",
			},
			Size: 10632, SHA256: "71e8c0d91c9206da277a047f654e47fd41e8422c82e7a14f474fb24a74ac6dea",
		}},
	},
	{
		Name: "smilga-2025", Kind: Suite, Instrument: "leakage",
		What: "the prompts of Smilga: 709 test prompts about colours with 27 controls, and the 109 of Gonen et al. with " +
			"the concepts stated",
		License: "none stated",
		Terms:   "none is stated in the repository smilni/semantic_leakage_project",
		Cite: "Smilga 2025, Scaling Down Semantic Leakage: Investigating Associative Bias in Smaller Language Models, " +
			"arXiv:2501.06638",
		Home: "https://github.com/smilni/semantic_leakage_project",
		// Workbooks with answers: that of the prompts alone, semantic_leakage_colors.xlsx,
		// lacks category 3 and the prompts of Gonen et al.
		Files: []File{{
			Name: "color_prompts_qwen_3_instr.xlsx",
			URLs: []string{smilga + "color_prompts/color_prompts_qwen_3_instr.xlsx"},
			Size: 77703, SHA256: "a17748e26295d141ea9dabced75df948e768d1d71570b2f274db627f34d417aa",
		}, {
			Name: "initial_prompts_qwen_3_instr.xlsx",
			URLs: []string{smilga + "initial_prompts/initial_prompts_qwen_3_instr.xlsx"},
			Size: 11697, SHA256: "c1b28d794ef20a177a69b80718dcba9910c5a3fc01f7ea54f3fc302056b58810",
		}},
	},
	{
		Name: "paws-x", Kind: Suite, Instrument: "consistency",
		What:    "PAWS-X: pairs of sentences in 7 languages, paraphrases or not, development and test sets",
		License: "free for any purpose",
		Terms: "may be freely used for any purpose; acknowledgement of Google LLC as the data source would be " +
			"appreciated; no warranty",
		Cite: "Yang et al. 2019, PAWS-X: A Cross-lingual Adversarial Dataset for Paraphrase Identification, " +
			"arXiv:1908.11828",
		Home: "https://github.com/google-research-datasets/paws/tree/master/pawsx",
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
			URLs: []string{"https://dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip",
				"https://cims.nyu.edu/~sbowman/xnli/XNLI-1.0.zip"},
			Size: 17865352, SHA256: "4ba1d5e1afdb7161f0f23c66dc787802ccfa8a25a3ddd3b165a35e50df346ab1",
			Members: []string{"XNLI-1.0/xnli.dev.tsv", "XNLI-1.0/xnli.test.tsv"},
		}},
	},
	{
		Name: "boolq", Kind: Suite, Instrument: "consistency",
		What:    "BoolQ: 3,270 English passages with a yes/no question, the development set",
		License: "CC BY-SA 3.0",
		Cite: "Clark et al. 2019, BoolQ: Exploring the Surprising Difficulty of Natural Yes/No Questions, " +
			"arXiv:1905.10044",
		Home: "https://github.com/google-research-datasets/boolean-questions",
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
	lcb    = "https://raw.githubusercontent.com/for-ai/language-confusion/"
	gonen  = "https://raw.githubusercontent.com/gonenhila/gonenhila.github.io/"
	smilga = "https://raw.githubusercontent.com/smilni/semantic_leakage_project/" +
		"1d08900ec18f311b62a10f3a52f7b337c5347571/data/generation_results/"

	lidLicense = "CC BY-SA 3.0"
	lidCite    = "Joulin et al. 2016, Bag of Tricks for Efficient Text Classification, arXiv:1607.01759"
	lidHome    = "https://fasttext.cc/docs/en/language-identification.html"
)
