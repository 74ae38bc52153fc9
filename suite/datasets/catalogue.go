package datasets

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// catalogueFile has all sources. The checksums of test_sets.zip, the prompts of gonen-2024 and smilga-2025 and
// lid.176.ftz are of copies of the files; that of lid.176.bin is of copies on the Hugging Face Hub; others are from
// the descriptions in Hugging Face's datasets library, that of XNLI also in TensorFlow Datasets. Those of
// smilga-2025 are workbooks with answers: that of the prompts alone lacks category 3 and those of Gonen et al.
//
//go:embed catalogue.json
var catalogueFile []byte

var catalogue = sync.OnceValue(func() (all []Source) {
	if err := json.Unmarshal(catalogueFile, &all); err != nil {
		panic(err)
	}
	return all
})
