package guard

import (
	_ "embed"

	"crosstalk/internal/lexicon"
)

//go:embed words.txt
var wordLists string

//go:embed languages.txt
var languageLists string

// Lists of the two files, which describe them.
var (
	lists    = lexicon.Parse(wordLists)
	phrases  = lexicon.Parse(languageLists)
	english  = lexicon.Set(lists["english"])
	joins    = lexicon.Set(lists["joins"])
	inNames  = lexicon.Set(lists["in names"])
	articles = lexicon.Set(lists["begin names"])
	latins   = lexicon.Set(lists["latin"])
	malay    = lexicon.Set(lists["malay"])
	rather   = lexicon.Set(lists["rather malay"])
)
