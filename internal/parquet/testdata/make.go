// Writes go-v1.parquet and go-v2.parquet: in a module that requires
// github.com/parquet-go/parquet-go v0.32.0, go run make.go.
package main

import (
	"fmt"
	"os"

	"github.com/parquet-go/parquet-go"
)

type row struct {
	ID        int32   `parquet:"id"`
	Sentence1 string  `parquet:"sentence1,plain"`
	Sentence2 *string `parquet:"sentence2,optional,dict"`
	Label     int64   `parquet:"label,dict"`
	Checked   bool    `parquet:"checked"`
	Score     float64 `parquet:"score"`
}

func main() {
	for name, options := range map[string][]parquet.WriterOption{
		"go-v1.parquet": {parquet.DataPageVersion(1), parquet.PageBufferSize(100), parquet.Compression(&parquet.Snappy)},
		"go-v2.parquet": {parquet.DataPageVersion(2), parquet.PageBufferSize(100),
			parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(25)},
	} {
		f, _ := os.Create(name)
		w := parquet.NewGenericWriter[row](f, options...)
		for i := 1; i <= 60; i++ {
			r := row{ID: int32(i), Sentence1: fmt.Sprintf("The lamp number %d stands left of the door.", i),
				Label: int64(i % 2), Checked: i%3 == 0, Score: float64(i) / 4}
			s := fmt.Sprintf("Lampe %d: 灯在门的左边。", i%4)
			if i%5 == 0 {
				s = `"The ""left"" door has a lamp."`
			}
			if i%7 != 0 {
				r.Sentence2 = &s
			}
			if _, err := w.Write([]row{r}); err != nil {
				panic(err)
			}
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
		f.Close()
	}
}
