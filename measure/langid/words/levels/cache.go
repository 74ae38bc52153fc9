package levels

// A Cache remembers the rows of the strings that were looked up last in a table: a few thousand make up most of a text.
// It is not safe for concurrent use.
type Cache struct {
	table *Table
	kept  [1 << 12]kept
}

type kept struct {
	hash Hash // 0 stands for the empty string, which no table has
	row  Row
}

// Cache returns a free cache of the table. Free gives it back.
func (t *Table) Cache() *Cache {
	if c, ok := t.caches.Get().(*Cache); ok {
		return c
	}
	return &Cache{table: t}
}

// Free gives the cache back, for another caller of Table.Cache.
func (c *Cache) Free() { c.table.caches.Put(c) }

// mostRows is the largest number of rows that Rows takes.
const mostRows = 8

// Rows sets rows to those of the strings with these hashes, at most eight. It finds all places before it reads a row,
// so that the processor waits for all of them at once.
func (c *Cache) Rows(rows []Row, hashes []Hash) {
	var places [mostRows]place
	for i, h := range hashes {
		if k := c.at(h); k.hash == h {
			rows[i] = k.row
		} else {
			places[i] = c.table.find(h)
		}
	}
	for i, h := range hashes {
		if p := &places[i]; p.table != nil {
			p.row(&rows[i])
			*c.at(h) = kept{h, rows[i]}
		}
	}
}

func (c *Cache) at(h Hash) *kept { return &c.kept[h%Hash(len(c.kept))] }
