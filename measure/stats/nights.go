package stats

import "math"

// Night is how items of a run differ from those of a fixed reference, such as last night's from the first night's. N is
// how many independent items they count as.
type Night struct {
	Discordance
	N float64
}

// NightlyEvidence is the largest evidence, after each of the nights so far, that the loss (Losses - Wins) is more than
// a margin in (0, 1): it reaches 1/alpha with a probability of at most alpha if it is not, however many nights there
// are. since is the night, from 1, of the largest evidence. faults is the expected share of items that differ; it only
// steers the bets.
//
// It is a mixture of bets with fixed parts of the stake (Waudby-Smith and Ramdas 2024, section 4): half from the first
// night on, half from each later night with a weight of 1/(s(s+1)), so a loss that begins late is found, too. Items
// that differ by less than 1 count as fewer that differ by 1, which is never more evidence. The reference's luck is the
// same every night: take a margin of at least two of its standard deviations (Luck).
func NightlyEvidence(nights []Night, margin, faults float64) (most float64, since int) {
	bets := mixture(faults, margin)
	logs := make([][]float64, len(nights)) // by first night and bet
	for t, night := range nights {
		total := .5 / float64(t+2) // starts that are to come
		logs[t] = make([]float64, len(bets))
		for s, start := range logs[:t+1] {
			var e float64
			for b, bet := range bets {
				c := bet.part
				start[b] += night.N * (night.Losses*math.Log1p(c*(1-margin)/(1+margin)) + night.Wins*math.Log1p(-c) +
					(1-night.Losses-night.Wins)*math.Log1p(-c*margin/(1+margin)))
				e += bet.weight * math.Exp(start[b])
			}
			if s == 0 {
				total += .5 * e
			}
			total += .5 * e / float64((s+1)*(s+2))
		}
		if total > most {
			most, since = total, t+1
		}
	}
	return most, since
}

// Luck is the standard deviation of the reference's figure that comes from asking each item so many times. What the
// reference had by bad luck, the nights win: if nothing has changed, items are won as often as a share q(1-q) of them,
// q being an item's rate.
func Luck(nights []Night, samples float64) float64 {
	var wins, n float64
	for _, night := range nights {
		wins += night.Wins * night.N
		n += night.N
	}
	share := math.Min(1, (wins+.5)/n) // half a win, for none is not never
	return math.Sqrt(2 * share / (1 + samples) / (n / float64(len(nights))))
}
