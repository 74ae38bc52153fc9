package suite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/internal/intern"

	"github.com/klauspost/compress/zstd"
)

// Items holds the items of a suite in order. All but the last few thousand are compressed: a million prompts would
// take hundreds of megabytes, and are needed one after the other. The zero value has no items. Add all items before
// reading any; they may then be read concurrently.
type Items struct {
	blocks []block
	last   []crosstalk.Item // not in a block yet
	labels *intern.Maps
}

type block struct {
	packed []byte              // zstd of a gob, which decodes three times as fast as JSON
	labels []map[string]string // shared by items; nil: the items' own are packed
}

const perBlock = 4096

// ItemsOf returns Items with the items of a list.
func ItemsOf(list ...crosstalk.Item) (s Items) {
	for _, item := range list {
		s.Add(item)
	}
	return s
}

// Add adds an item, which must not be changed afterwards.
func (s *Items) Add(item crosstalk.Item) {
	if s.last = append(s.last, item); len(s.last) == perBlock {
		s.pack()
	}
}

// Len returns the number of items.
func (s Items) Len() int { return perBlock*len(s.blocks) + len(s.last) }

// At returns an item by its number, from 0. It may take milliseconds: All reads many.
func (s Items) At(i int) crosstalk.Item {
	if k := i / perBlock; k < len(s.blocks) {
		return s.blocks[k].items()[i%perBlock]
	}
	return s.last[i-perBlock*len(s.blocks)]
}

// All yields the numbers, from 0, and the items.
func (s Items) All() iter.Seq2[int, crosstalk.Item] {
	return func(yield func(int, crosstalk.Item) bool) {
		n := 0
		for k := range len(s.blocks) + 1 {
			items := s.last
			if k < len(s.blocks) {
				items = s.blocks[k].items()
			}
			for _, item := range items {
				if !yield(n, item) {
					return
				}
				n++
			}
		}
	}
}

// List returns all items, uncompressed.
func (s Items) List() []crosstalk.Item {
	list := make([]crosstalk.Item, 0, s.Len())
	for _, item := range s.All() {
		list = append(list, item)
	}
	return list
}

// Select returns the items for which keep returns true.
func (s Items) Select(keep func(crosstalk.Item) bool) (selected Items) {
	for _, item := range s.All() {
		if keep(item) {
			selected.Add(item)
		}
	}
	return selected
}

// Numbered returns the items with these numbers, which must ascend.
func (s Items) Numbered(numbers []int) (selected Items) {
	for i, item := range s.All() {
		if len(numbers) > 0 && numbers[0] == i {
			selected.Add(item)
			numbers = numbers[1:]
		}
	}
	return selected
}

func (s *Items) pack() {
	if s.labels == nil {
		s.labels = &intern.Maps{}
	}
	b := block{labels: make([]map[string]string, len(s.last))}
	for i := range s.last {
		item := &s.last[i]
		if shared, kept := s.labels.Kept(item.Labels); kept {
			b.labels[i], item.Labels = shared, nil
		}
	}
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(s.last); err != nil {
		panic("suite: item: " + err.Error()) // it has only texts and numbers
	}
	b.packed = slices.Clip(encoder().EncodeAll(content.Bytes(), nil))
	s.blocks, s.last = append(s.blocks, b), nil
}

func (b block) items() (items []crosstalk.Item) {
	content, err := decoder().DecodeAll(b.packed, nil)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(content)).Decode(&items)
	}
	if err != nil {
		panic("suite: packed items: " + err.Error()) // this process packed them
	}
	for i, shared := range b.labels {
		if shared != nil {
			items[i].Labels = shared
		}
	}
	return items
}

var encoder = sync.OnceValue(func() *zstd.Encoder {
	// No error: the options are valid.
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	return e
})

func (s Items) GobEncode() ([]byte, error) {
	var content bytes.Buffer
	err := gob.NewEncoder(&content).Encode(s.List())
	return content.Bytes(), err
}

func (s *Items) GobDecode(content []byte) error {
	var list []crosstalk.Item
	err := gob.NewDecoder(bytes.NewReader(content)).Decode(&list)
	*s = ItemsOf(list...)
	return err
}

// A compiled suite is the result of Parse for an embedded file, as a compressed gob after the file's SHA-256: reading
// YAML takes thirty times as long, and JSON three times. If it is missing or of another version of the file, it is
// not used. To compile the suites after a change:
//
//	go test ./suite -run TestCompiled -update

const compiledExt = ".gob.zst"

// compiled returns the embedded suite of that name if it is compiled from text.
func compiled(name string, text []byte) (*Suite, bool) {
	content, err := data.ReadFile(path.Join("compiled", name+compiledExt))
	sum := sha256.Sum256(text)
	content, current := bytes.CutPrefix(content, sum[:])
	if err != nil || !current {
		return nil, false
	}
	if content, err = decoder().DecodeAll(content, nil); err != nil {
		return nil, false
	}
	s := &Suite{}
	return s, gob.NewDecoder(bytes.NewReader(content)).Decode(s) == nil
}

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20)) // no error, as above
	return d
})

// strata are the columns whose values have the same shares in a part of a suite as in the whole.
var strata = []string{"task", "language", "source", "category", "begins"}

// Part returns a suite of n of its items, in order; all if n is 0 or too large. Which ones depends only on their ids,
// and a smaller part is contained in every larger one. The first items are one of each stratum (task, language,
// source and category); further ones keep the strata's shares. Within a stratum, each cluster contributes one item
// before any contributes a second, since different clusters are more informative. Clusters have the same order in
// every stratum, so that languages are asked similar items.
func (s *Suite) Part(n int) *Suite {
	if n <= 0 || n >= s.Items.Len() {
		return s
	}
	type place struct {
		item              int
		cluster, position uint64
		nth               int     // its number among the stratum's items in the cluster
		share             float64 // share of the stratum's items before it
	}
	groups := map[string][]place{}
	for i, item := range s.Items.All() {
		stratum := ""
		for _, column := range strata {
			stratum += item.Labels[column] + "\x00"
		}
		groups[stratum] = append(groups[stratum], place{item: i, cluster: hash("part", cmp.Or(item.Cluster, item.ID)),
			position: hash("part", item.ID)})
	}
	var all []place
	for _, group := range groups {
		slices.SortFunc(group, func(a, b place) int { return cmp.Compare(a.position, b.position) })
		times := map[uint64]int{}
		for i := range group {
			group[i].nth = times[group[i].cluster]
			times[group[i].cluster]++
		}
		slices.SortStableFunc(group, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.cluster, b.cluster))
		})
		for i := range group {
			group[i].share = float64(i) / float64(len(group))
		}
		all = append(all, group...)
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.position, b.position))
	})
	numbers := make([]int, n)
	for i, p := range all[:n] {
		numbers[i] = p.item
	}
	slices.Sort(numbers)
	part := *s
	part.Whole, part.Items = s.Items.Len(), s.Items.Numbered(numbers)
	return &part
}

// hash returns a number that depends only on the purpose and the text.
func hash(purpose, text string) uint64 {
	sum := sha256.Sum256([]byte(purpose + "\x00" + text))
	return binary.BigEndian.Uint64(sum[:8])
}

// Sources identifies the suites of recorded answers: a file, or a data set in it, with the hash of its items.
type Sources struct {
	files  []string
	groups map[string]*origin // by dataset; "" for all
}

type origin struct {
	names        []string
	fingerprints Fingerprint
	items        map[[2]string]struct{}
}

// NewSources returns the sources of items that are read from these files.
func NewSources(files []string) *Sources {
	return &Sources{files: files, groups: map[string]*origin{}}
}

// Add records an item. Adding it again has no effect.
func (s *Sources) Add(file string, item crosstalk.Item) {
	dataset := item.Labels["dataset"]
	name := BaseName(file)
	s.add("", file, name, item)
	if dataset != "" {
		s.add(dataset, file, name+"-"+dataset, item)
	}
}

func (s *Sources) add(group, file, name string, item crosstalk.Item) {
	g := s.groups[group]
	if g == nil {
		g = &origin{items: map[[2]string]struct{}{}}
		s.groups[group] = g
	}
	key := [2]string{item.Labels["dataset"], item.ID}
	if len(s.files) > 1 {
		key[0] = file + "\x00" + key[0]
	}
	if _, again := g.items[key]; again {
		return
	}
	g.items[key] = struct{}{}
	g.fingerprints.Add(item)
	if len(g.names) == 0 || g.names[len(g.names)-1] != name {
		g.names = append(g.names, name)
	}
}

// IDs names the suites as Suite.ID does: all items together, and each data set.
func (s *Sources) IDs() crosstalk.SuiteIDs {
	ids := crosstalk.SuiteIDs{Column: "dataset", Each: map[string]string{}}
	for dataset, g := range s.groups {
		if dataset == "" {
			ids.All = BaseNames(s.files) + "@" + g.fingerprints.String()
		} else {
			ids.Each[dataset] = strings.Join(g.names, "+") + "@" + g.fingerprints.String()
		}
	}
	return ids
}
