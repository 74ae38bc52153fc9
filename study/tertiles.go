package study

import (
	"maps"
	"slices"
)

// The thirds of a cell's prompts by length.
const (
	Short  = "short"
	Medium = "medium"
	Long   = "long"
)

// lengths counts prompts by their length in words. Memory grows with the number of
// different lengths, not with the length of prompts.
type lengths map[float64]int

// tertiles returns the third that prompts of each length are in.
//
// Prompts of the same length are in the same third: the one in which the middle of
// their ranks lies. Without ties, the thirds differ by at most one prompt. Prompts
// that are all equally long are medium.
func (counts lengths) tertiles() map[float64]string {
	n := 0
	for _, count := range counts {
		n += count
	}
	of := make(map[float64]string, len(counts))
	shorter := 0
	for _, length := range slices.Sorted(maps.Keys(counts)) {
		middle := 2*shorter + counts[length] // of the ranks, from 0 to 2n
		switch {
		case 3*middle < 2*n:
			of[length] = Short
		case 3*middle <= 4*n:
			of[length] = Medium
		default:
			of[length] = Long
		}
		shorter += counts[length]
	}
	return of
}
