package guard

// leastOdds are the least log odds of words that count, by the expected language: where its list lacks many of its own
// words, they are higher. Chosen so that about one clean text in 100 is flagged, as far as that costs little (half a of
// NTREX-128).
var leastOdds = map[string]float64{
	"af": 4.85, "ast": 4.85, "az": 7, "be": 4.85, "bg": 1.8, "br": 4.85, "ca": 2.9, "cs": 4.8,
	"cy": 4.85, "da": 2.6, "eo": 4.85, "et": 4.85, "eu": 4.85, "fi": 1.5, "ga": 4.85,
	"gd": 4.85, "gl": 5.1, "hr": 1.6, "is": 2.3, "kk": 5.2, "lt": 1.5, "nl": 2.5,
	"no": 4.6, "oc": 4.85, "pl": 4.4, "ro": 1.7, "sk": 4, "sq": 5, "sr": 4.9, "sv": 3.1,
	"hi": 4, "mr": 6, "ne": 8, "sw": 4.85, "tl": 4.6, "uk": 3.3, "uz": 6,
}

// leastRatios are how much the words of a line speak at least for the language that the identifier names, rather than
// for the expected one, as logarithms; usualRatio where it is not listed.
var leastRatios = map[string]float64{
	"af": 8, "az": 8, "be": 8, "gl": 8, "sr": 8, "sw": 8, "tl": 4,
}

const usualRatio = 1
