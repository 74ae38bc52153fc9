package testserver

import (
	"flag"
	"strings"
)

// Flags adds a flag for each option that has one.
func (o *Options) Flags(f *flag.FlagSet) {
	list := func(into *[]string) func(string) error {
		return func(text string) error {
			*into = strings.Split(text, ",")
			return nil
		}
	}
	f.Func("fault", "`name=probability,...`, such as 500=0.1,cut=0.05; a wrong name lists them all", func(text string) (err error) {
		o.Faults, err = ParseFaults(text)
		return err
	})
	f.Func("models", "`names` of the models that exist, separated by commas (default any)", list(&o.Models))
	f.Func("unsupported", "parameters to refuse: `name[=instead],...`, such as max_tokens=max_completion_tokens", func(text string) error {
		o.Unsupported = map[string]string{}
		for part := range strings.SplitSeq(text, ",") {
			name, instead, _ := strings.Cut(part, "=")
			o.Unsupported[name] = instead
		}
		return nil
	})
	f.Func("answer", "`text` of every answer", func(text string) error {
		o.Answer = func(Request) Reply { return Reply{Text: text} }
		return nil
	})
	f.StringVar(&o.Profile, "profile", "", "`family` whose refusals and thoughts every model has (default by the model's name; none: no model has any)")
	f.Int64Var(&o.Seed, "seed", 0, "seed of the draws of faults and jitter")
	f.IntVar(&o.FailFirst, "fail-first", 0, "fail the first `n` attempts of each request and none later")
	f.DurationVar(&o.RetryAfter, "retry-after", 0, "wait that the 429 faults with a header ask for (default 1s)")
	f.DurationVar(&o.Latency, "latency", 0, "time before every answer")
	f.DurationVar(&o.Jitter, "jitter", 0, "upper end of the random time added to the latency")
	f.DurationVar(&o.Stall, "stall", 0, "what slow and slow-body add (default 1s)")
	f.IntVar(&o.MaxConcurrency, "max-concurrency", 0, "requests in flight above which the answer is 429 (0: no limit)")
	f.IntVar(&o.RPM, "rpm", 0, "requests per minute above which the answer is 429 (0: no limit)")
	f.StringVar(&o.Key, "key", "", "API key asked for (default any)")
	f.IntVar(&o.Context, "context", 0, "tokens to which prompts are cut without a word (0: no limit)")
	f.StringVar(&o.System, "system", "", "a system `message` that the server puts before those of chats")
	f.StringVar(&o.Serves, "serves", "", "`name` of the model that answers, whatever is asked for")
	f.Func("ignore", "`parameters` that are passed over without a word, separated by commas", list(&o.Ignores))
	f.Float64Var(&o.Batches.Expire, "batch-expire", 0, "`probability` that a request of a batch expires")
	f.Float64Var(&o.Batches.Fail, "batch-fail", 0, "`probability` that a request of a batch fails")
	f.Func("batch-results", "`fault` of the results of batches, such as html or late", func(text string) error {
		o.Batches.Results = ResultFault(text)
		return nil
	})
	f.BoolVar(&o.NoList, "no-list", false, "have no list of models")
	f.BoolVar(&o.Vary, "vary", false, "answer a repeated request with another sample")
}
