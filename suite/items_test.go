package suite

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"crosstalk"
)

// Items are the same whether they are compressed or not, in their order, for
// several readers at a time.
func TestItems(t *testing.T) {
	for _, n := range []int{0, 1, perBlock - 1, perBlock, 5*perBlock + 7} {
		made := func(i int) crosstalk.Item {
			item := crosstalk.Item{ID: fmt.Sprint("id ", i), Cluster: fmt.Sprint(i / 2),
				Labels: map[string]string{"language": []string{"de", "fr"}[i%2]},
				Prompt: &crosstalk.Prompt{Text: fmt.Sprintf("<Frage> \u2028 \"%d\"?", i), Language: "de", Placed: map[string]string{"end": "?"}}}
			switch {
			case i%10 == 0:
				item.Labels = nil
			case i%10 > 1: // of the last, there are too many to be shared
				item.Labels = map[string]string{"note": fmt.Sprint(i), "": ""}
			}
			return item
		}
		var items Items
		for i := range n {
			items.Add(made(i))
		}
		if items.Len() != n || len(items.List()) != n {
			t.Fatalf("%d items, %d of them listed; want %d", items.Len(), len(items.List()), n)
		}
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				next := 0
				for i, item := range items.All() {
					if i != next || !reflect.DeepEqual(item, made(i)) {
						t.Errorf("%d of %d: %d, %+v", next, n, i, item)
						break
					}
					next++
				}
				if next != n {
					t.Errorf("%d items; want %d", next, n)
				}
			})
		}
		group.Wait()
		for _, i := range []int{0, n / 2, n - 1} {
			if i >= 0 && i < n && items.At(i).ID != made(i).ID {
				t.Errorf("item %d is %v", i, items.At(i))
			}
		}
		half := items.Numbered([]int{0, n / 2, n, 2 * n})
		if n > 1 && (half.Len() != 2 || half.At(1).ID != made(n/2).ID) {
			t.Errorf("of %d items: %v", n, half.List())
		}
		german := items.Select(func(item crosstalk.Item) bool { return item.Labels["language"] == "de" })
		for _, item := range german.All() {
			if item.Labels["language"] != "de" {
				t.Errorf("%+v", item)
			}
		}
		if n > perBlock && len(items.blocks[0].packed) > 40*perBlock {
			t.Errorf("%d bytes for %d items", len(items.blocks[0].packed), perBlock)
		}
	}
}

// Nothing of an item is lost, whatever it is made of.
func TestItemsOfEveryKind(t *testing.T) {
	for _, name := range []string{"leakage-context", "leakage-stories", "confusion", "consistency"} {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		var packed Items
		packed.last = s.Items.List()
		packed.pack()
		for i, item := range packed.blocks[0].items() {
			if want := s.Items.At(i); !reflect.DeepEqual(item, want) {
				t.Fatalf("%s: %+v, want %+v", name, item, want)
			}
		}
	}
}
