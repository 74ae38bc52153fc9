package estimate

import (
	"reflect"
	"testing"
)

func TestRollup(t *testing.T) {
	for _, c := range []struct {
		labels map[string]string
		by     []string
		want   []map[string]string
	}{
		{nil, nil, []map[string]string{{}}},
		{map[string]string{"a": "x", "b": "y"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}, {"a": "x", "b": "all"}, {"a": "x", "b": "y"}}},
		{map[string]string{"a": "x"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}, {"a": "x", "b": "all"}}},
		{map[string]string{"b": "y"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}}},
		{map[string]string{"a": "all", "b": "y"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}}},
		{nil, []string{"a"}, []map[string]string{{"a": "all"}}},
	} {
		if got := Rollup(c.labels, c.by); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Rollup(%v, %v) = %v, want %v", c.labels, c.by, got, c.want)
		}
	}
}
