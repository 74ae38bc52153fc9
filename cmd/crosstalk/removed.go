package main

// removed says what replaces a command or a flag of an earlier version, by its old name.
var removed = map[string]string{
	"review answers":    "ask people with 'crosstalk annotate RUN --question reading' or 'crosstalk labels export RUN --question reading --only doubtful', then score with --overrides RUN; files that were filled in are still read",
	"review pairs":      "ask people with 'crosstalk annotate RUN --question codes' or 'crosstalk labels export RUN --question codes'; 'crosstalk labels import RUN pairs.csv --question codes' reads a file that was filled in",
	"review codes":      "use 'crosstalk agreement RUN --question codes --by pair,part' after 'crosstalk labels import RUN pairs.csv --question codes'",
	"vacuum":            "answers are never deleted from a journal, so it has hardly any free space; sqlite3 RUN/answers.db VACUUM rewrites it",
	"--caption":         "edit the caption in the LaTeX file",
	"--copy":            "calibrate takes 0.2",
	"--flip":            "use calibrate's --rate",
	"--invalid":         "calibrate takes 0.01",
	"--line":            "use calibrate's --rate",
	"--logprobs-scaled": "make the server return log probabilities before temperature (vLLM: --logprobs-mode raw_logprobs, its default)",
	"--mask":            "calibrate takes 0.1",
	"--metrics":         "use 'crosstalk status DIR --format json', or --log json",
	"--short":           "calibrate takes 0.1",
	"--width":           "label 60 to 100 answers and look at the interval of report --corrected",
	"--word":            "calibrate takes 0.05",
}
