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
	f.Func("fault", "`name=probability,...`, such as 500=0.1,cut=0.05", func(text string) (err error) {
		o.Faults, err = ParseFaults(text)
		return err
	})
	f.Func("models", "`names` of the models that exist, separated by commas (default any)", list(&o.Models))
	f.Func("answer", "`text` of every answer", func(text string) error {
		o.Answer = func(Request) Reply { return Reply{Text: text} }
		return nil
	})
	f.StringVar(&o.Profile, "profile", "", "`family` whose refusals and thoughts every model has (default: by its name)")
	f.DurationVar(&o.Latency, "latency", 0, "time before every answer")
	f.DurationVar(&o.Jitter, "jitter", 0, "upper end of the random time added to the latency")
	f.StringVar(&o.Key, "key", "", "API key asked for (default any)")
	f.IntVar(&o.Context, "context", 0, "tokens to which prompts are cut without a word (0: no limit)")
	f.StringVar(&o.System, "system", "", "a system `message` that the server puts before those of chats")
	f.StringVar(&o.Serves, "serves", "", "`name` of the model that answers, whatever is asked for")
	f.Func("ignore", "`parameters` that are passed over without a word, separated by commas", list(&o.Ignores))
	f.Float64Var(&o.Batches.Expire, "batch-expire", 0, "`probability` that a request of a batch expires")
	f.Func("batch-results", "`fault` of the results of batches, such as html or late", func(text string) error {
		o.Batches.Results = ResultFault(text)
		return nil
	})
}
