package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Settings lists all settings in a run's manifest, one for each value, named by
// its path.
func Settings(manifest []byte) ([]Setting, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(manifest)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var settings []Setting
	flatten(&settings, "", v)
	return settings, nil
}

func flatten(settings *[]Setting, name string, v any) {
	below := func(key string) string { return strings.TrimPrefix(name+" › "+key, " › ") }
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sorted(v) {
			flatten(settings, below(key), v[key])
		}
	case []any:
		var plain []string
		for i, item := range v {
			switch item.(type) {
			case map[string]any, []any:
				flatten(settings, below(fmt.Sprint(i+1)), item)
			default:
				plain = append(plain, fmt.Sprint(item))
			}
		}
		if plain != nil {
			*settings = append(*settings, Setting{name, strings.Join(plain, ", ")})
		}
	case nil:
	default:
		if text := fmt.Sprint(v); text != "" {
			*settings = append(*settings, Setting{name, text})
		}
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
