// Package ordered merges and groups lists without losing their order.
package ordered

import "slices"

// Merge returns list with the elements of other that it lacks, in an order that agrees with both lists as far as they
// agree with each other: an element of other comes directly before its successor there, or at the end if it has none.
// Elements with the same key are equal; Merge keeps those of list. It changes neither list.
func Merge[T any, K comparable](list, other []T, key func(T) K) []T {
	if len(list) == 0 {
		return other
	}
	merged, at := slices.Clone(list), len(list)
	for _, element := range slices.Backward(other) {
		k := key(element)
		if i := slices.IndexFunc(merged, func(e T) bool { return key(e) == k }); i >= 0 {
			at = i
		} else {
			merged = slices.Insert(merged, at, element)
		}
	}
	return merged
}

// Groups groups the elements of a list by key, in the order of each group's first element.
func Groups[T any, K comparable](list []T, key func(T) K) (groups [][]T) {
	known := map[K]int{}
	for _, element := range list {
		k := key(element)
		i, again := known[k]
		if !again {
			i = len(groups)
			known[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], element)
	}
	return groups
}

// Distinct returns the distinct keys of the elements of a list, in the order of their first elements.
func Distinct[T any, K comparable](list []T, key func(T) K) (keys []K) {
	known := map[K]bool{}
	for _, element := range list {
		if k := key(element); !known[k] {
			known[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// Map applies of to each element of a list. The result is never nil.
func Map[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, v := range list {
		all[i] = of(v)
	}
	return all
}
