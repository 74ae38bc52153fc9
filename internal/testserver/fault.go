package testserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fault is a way to misbehave, named as on the command line.
type Fault string

// Failures: the attempt yields no usable answer. At most one happens, drawn per (seed, request, attempt).
const (
	RequestTimeout     Fault = "408"
	Conflict           Fault = "409"
	RateLimited        Fault = "429"         // no Retry-After
	RateLimitedSeconds Fault = "429-seconds" // Retry-After in seconds
	RateLimitedDate    Fault = "429-date"    // Retry-After as an HTTP date
	RateLimitedMillis  Fault = "429-ms"      // retry-after-ms, and Retry-After rounded up, as OpenAI sends them
	ServerError        Fault = "500"
	BadGateway         Fault = "502"
	Unavailable        Fault = "503"
	GatewayTimeout     Fault = "504"
	Overloaded         Fault = "529"
	Hang               Fault = "hang"         // nothing, until the client gives up or the server closes
	Drop               Fault = "drop"         // the connection closes before any byte
	Cut                Fault = "cut"          // the connection closes in the middle of the body
	InvalidJSON        Fault = "invalid-json" // status 200, complete by Content-Length, half a JSON document
	WrongShape         Fault = "wrong-shape"  // status 200, valid JSON but not an answer
	HTML               Fault = "html"         // a proxy's error page, status 502
	HTMLOK             Fault = "html-200"     // a proxy's page with status 200
)

// Outcomes: a complete answer without the text one hoped for. At most one happens, drawn per (seed, request): they are
// the model's doing, so another attempt meets them again. Embeddings know none.
const (
	Empty    Fault = "empty"    // empty text, finished by itself
	Thinking Fault = "thinking" // empty text, all tokens spent on reasoning, finished by length
	Refusal  Fault = "refusal"  // OpenAI message.refusal; Anthropic stop_reason "refusal"
	Filtered Fault = "filtered" // OpenAI finish_reason "content_filter" after half the text; Anthropic as for Refusal
)

// Delays: the answer is right and late. Each is drawn for itself per (seed, request, attempt).
const (
	Slow     Fault = "slow"      // Options.Stall more before the headers
	SlowBody Fault = "slow-body" // the body dribbles over Options.Stall
)

// kind is failure, outcome or delay.
type kind string

const (
	failure kind = "failure"
	outcome kind = "outcome"
	delay   kind = "delay"
)

// kindOf returns the kind of a fault, "" if it is not one.
func kindOf(f Fault) kind {
	for k, list := range data().Kinds {
		if slices.Contains(list, f) {
			return k
		}
	}
	return ""
}

func unknownFault(f Fault) error {
	return fmt.Errorf("unknown fault %q: want one of %v", f, data().Kinds)
}

// parseFaults reads "name=probability,name=probability", for example
// "429-seconds=0.1,cut=0.05". The empty string gives no faults.
func parseFaults(s string) (map[Fault]float64, error) {
	faults := map[Fault]float64{}
	if s == "" {
		return faults, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		name, prob, ok := strings.Cut(strings.TrimSpace(part), "=")
		p, err := strconv.ParseFloat(prob, 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("fault %q: want name=probability, such as 500=0.1", part)
		}
		faults[Fault(name)] = p
	}
	return faults, nil
}

// fate is the outcome of one attempt. Empty failure and outcome mean a plain answer.
type fate struct {
	failure, outcome Fault
	slow, slowBody   bool
	jitter           float64 // in [0, 1)
}

func (o *Options) fate(hash string, attempt int) fate {
	u := func(purpose string, attempt int) float64 { return uniform(o.Seed, purpose, hash, attempt) }
	f := fate{
		outcome:  o.pick(outcome, u("outcome", 0)),
		slow:     u("slow", attempt) < o.Faults[Slow],
		slowBody: u("slow-body", attempt) < o.Faults[SlowBody],
		jitter:   u("jitter", attempt),
	}
	switch {
	case o.FailFirst == 0:
		f.failure = o.pick(failure, u("failure", attempt))
	case attempt <= o.FailFirst:
		sum := 0.0
		for f, p := range o.Faults {
			if kindOf(f) == failure {
				sum += p
			}
		}
		f.failure = cmp.Or(o.pick(failure, u("failure", attempt)*sum), ServerError)
	}
	return f
}

// pick gives the fault of kind k in whose share of [0, 1) u falls, or "".
func (o *Options) pick(k kind, u float64) Fault {
	for _, f := range slices.Sorted(maps.Keys(o.Faults)) {
		if kindOf(f) != k {
			continue
		}
		if u < o.Faults[f] {
			return f
		}
		u -= o.Faults[f]
	}
	return ""
}

// uniform draws from [0, 1), always the same for the same arguments.
func uniform(seed int64, purpose, hash string, attempt int) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %d", seed, purpose, hash, attempt))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}
