package main

import (
	"fmt"
	"os"
	"crosstalk/report/figure"
	"crosstalk/run"
)

func main() {
	es, err := run.ReadEstimates(os.Args[1])
	if err != nil { panic(err) }
	b := figure.NewBook(es)
	for o, err := range run.ReadObservations(os.Args[1]) {
		if err != nil { panic(err) }
		b.Add(o)
	}
	os.MkdirAll(os.Args[2], 0o777)
	for _, f := range b.Figures() {
		fmt.Println(f.Name, f.Title, f.Width, f.Height, len(f.Marks))
		s, _ := os.Create(os.Args[2]+"/"+f.Name+".svg"); f.WriteSVG(s); s.Close()
		s, _ = os.Create(os.Args[2]+"/"+f.Name+".png"); if err := f.WritePNG(s); err != nil { panic(err) }; s.Close()
		s, _ = os.Create(os.Args[2]+"/"+f.Name+".pdf"); if err := f.WritePDF(s); err != nil { panic(err) }; s.Close()
	}
}
