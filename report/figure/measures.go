package figure

import (
	"maps"
	"slices"
)

// plain are the measures that are no shares of something, with their units.
var plain = map[string]string{}

// isShare reports whether a measure is a share, shown in percent.
func isShare(measure string) bool { _, ok := plain[measure]; return !ok }

// axisName is what stands at the axis of a measure.
func axisName(measure string) string {
	if isShare(measure) {
		return words(measure) + ", %"
	}
	if unit := plain[measure]; unit != "" {
		return words(measure) + ", " + unit
	}
	return words(measure)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
