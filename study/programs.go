package study

import "strings"

// keyVars are the environment variables that the sweep takes keys from, beside
// those of providers.
func (s *Sweep) keyVars() (names []string) {
	if s.KeyVar != "" {
		names = append(names, s.KeyVar)
	}
	for _, header := range s.Headers {
		if _, value, _ := strings.Cut(header, "="); strings.HasPrefix(value, "$") {
			names = append(names, value[1:])
		}
	}
	return names
}
