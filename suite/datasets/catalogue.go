package datasets

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// catalogueFile has all sources. Its checksums of test_sets.zip, the prompts of gonen-2024 and smilga-2025 and
// lid.176.ftz were computed from copies of the files; that of lid.176.bin is from copies on the Hugging Face Hub; the
// others are from the data set descriptions of Hugging Face's datasets library, that of XNLI also from TensorFlow
// Datasets. Those of smilga-2025 are workbooks with answers, since that of the prompts alone lacks category 3 and the
// prompts of Gonen et al.
//
//go:embed catalogue.json
var catalogueFile []byte

var catalogue = sync.OnceValue(func() (all []Source) {
	if err := json.Unmarshal(catalogueFile, &all); err != nil {
		panic(err)
	}
	return all
})
