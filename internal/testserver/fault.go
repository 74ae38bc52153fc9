package testserver

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Fault is a way to misbehave, by its name in replies.yaml, which says what each does.
type Fault string

// kindOf returns the kind of a fault: failure, outcome or delay; "" if it is not one.
func kindOf(f Fault) string {
	for kind, list := range data().Kinds {
		if slices.Contains(list, f) {
			return kind
		}
	}
	return ""
}

// fate is the outcome of one attempt. Empty failure and outcome mean a plain answer.
type fate struct {
	failure, outcome Fault
	slow, dribble    bool
	jitter           float64 // in [0, 1)
}

func (o *Options) fate(hash string, attempt int) fate {
	u := func(purpose string, attempt int) float64 { return uniform(o.Seed, purpose, hash, attempt) }
	f := fate{
		outcome: o.pick("outcome", u("outcome", 0)),
		slow:    u("slow", attempt) < o.Faults["slow"],
		dribble: u("dribble", attempt) < o.Faults["dribble"],
		jitter:  u("jitter", attempt),
	}
	if attempt <= o.FailFirst {
		f.failure = "500"
	} else if o.FailFirst == 0 {
		f.failure = o.pick("failure", u("failure", attempt))
	}
	return f
}

// pick gives the fault of a kind in whose share of [0, 1) u falls, or "".
func (o *Options) pick(kind string, u float64) Fault {
	for _, f := range slices.Sorted(maps.Keys(o.Faults)) {
		if kindOf(f) != kind {
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
