package endpoint

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"crosstalk"
)

// Body is a JSON object being written, with parameters that override what is set. Equal requests give equal bytes.
type Body struct {
	json  []byte
	extra map[string]any
}

// NewBody returns an object that will contain extra as it is.
func NewBody(extra map[string]any) *Body {
	return &Body{append(make([]byte, 0, 512), '{'), extra}
}

// Set adds a field, unless extra has it.
func (b *Body) Set(name string, value any) {
	if _, overridden := b.extra[name]; !overridden {
		b.add(name, crosstalk.Canonical(value))
	}
}

// SetGiven adds a field whose value is given.
func SetGiven[T any](b *Body, name string, value *T) {
	if value != nil {
		b.Set(name, *value)
	}
}

// Apart separates what the system says from the other turns, which are not nil.
func Apart(messages []crosstalk.Message) (system []string, turns []crosstalk.Message) {
	turns = make([]crosstalk.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role == "system" {
			system = append(system, m.Content)
		} else {
			turns = append(turns, m)
		}
	}
	return system, turns
}

// IsNull reports whether a field of an answer is null or not there.
func IsNull(field json.RawMessage) bool { return len(field) == 0 || string(field) == "null" }

// Budget is a placeholder in parameters for the number of tokens that a model may think.
const Budget = "$budget"

// leastBudget is the least that Claude takes, and little for any model.
const leastBudget = 1024

// SetAll adds fields in the order of their names, with tokens in the place of Budget.
func (b *Body) SetAll(params map[string]any, tokens int) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		b.Set(name, fill(params[name], max(tokens, leastBudget)))
	}
}

func fill(value any, tokens int) any {
	switch v := value.(type) {
	case string:
		if v == Budget {
			return tokens
		}
	case map[string]any:
		filled := make(map[string]any, len(v))
		for name, inner := range v {
			filled[name] = fill(inner, tokens)
		}
		return filled
	}
	return value
}

// Bytes is the whole object. It fails if extra cannot be written as JSON.
func (b *Body) Bytes() ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(b.extra)) {
		value, err := json.Marshal(b.extra[name])
		if err != nil {
			return nil, err
		}
		b.add(name, value)
	}
	return append(b.json, '}'), nil
}

func (b *Body) add(name string, value []byte) {
	if len(b.json) > 1 {
		b.json = append(b.json, ',')
	}
	b.json = append(append(append(b.json, crosstalk.Canonical(name)...), ':'), value...)
}

// Count is a number of tokens in an answer. Whatever cannot be one counts as
// none: an answer is not lost over its bill.
type Count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(b []byte) error {
	var f float64
	*c = 0
	if json.Unmarshal(b, &f) == nil && f > 0 && f <= math.MaxInt32 {
		*c = Count(f)
	}
	return nil
}
