package stats

import "math"

// bet is a part of the stake and its weight in the mixture.
type bet struct{ part, weight float64 }

// leastDiscord is the least expected share of values that differ: who had no fault may have one.
const leastDiscord = 0.002

// mixture is the six bets on a mean, most of them near the expected share of values that differ.
func mixture(discord, margin float64) []bet {
	discord = math.Max(discord, leastDiscord)
	return []bet{{best(discord/3, margin), .20}, {best(discord, margin), .30}, {best(3*discord, margin), .20},
		{.995, .15}, {.05, .075}, {.3, .075}}
}

// best is the part of the stake whose capital grows fastest if the mean is 0 and a share of the values differs, half of
// them each way.
func best(share, m float64) float64 {
	share = min(share, 1)
	low, high := 0.0, 1-1e-6
	for range 60 {
		c := (low + high) / 2
		l := c / (1 - m)
		if (1-share)*m/(1+l*m)+share/2*(1+m)/(1+l*(1+m)) > share/2*(1-m)/(1-c) {
			low = c
		} else {
			high = c
		}
	}
	return low
}
