// Package nearest finds the name that a mistyped one most likely means.
package nearest

import "strings"

// Of returns the only known name with the smallest distance to name. If all distances exceed a third of its length,
// Of returns the only known name that begins with it. It returns "" if there is neither.
func Of(name string, known []string) (best string) {
	if name == "" || len(name) > 100 {
		return ""
	}
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	least := max(1, len(name)/3) + 1
	var longer []string
	several := false
	for _, k := range known {
		like := strings.ToLower(strings.ReplaceAll(k, "_", "-"))
		switch d := distance(name, like); {
		case d < least:
			best, least, several = k, d, false
		case d == least && best != "" && k != best:
			several = true
		}
		if len(name) > 1 && strings.HasPrefix(like, name) {
			longer = append(longer, k)
		}
	}
	switch {
	case several:
		return ""
	case best == "" && len(longer) == 1:
		return longer[0]
	}
	return best
}

// Question asks whether the nearest name was meant, with a space at its end: "did you mean leakage? ". It is "" if no
// name is near.
func Question(name string, known []string) string {
	if best := Of(name, known); best != "" {
		return "did you mean " + best + "? "
	}
	return ""
}

// distance counts the bytes to insert, remove or replace and the neighbours to swap (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := range len(a) {
		for j := range len(b) {
			replaced := rows[i][j]
			if a[i] != b[j] {
				replaced++
			}
			d := min(replaced, rows[i][j+1]+1, rows[i+1][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(a)][len(b)]
}
