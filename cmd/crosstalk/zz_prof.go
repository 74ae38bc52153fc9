package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

func init() {
	dir := os.Getenv("ZZPROF")
	if dir == "" {
		return
	}
	c, _ := os.Create(dir + "/cpu.prof")
	pprof.StartCPUProfile(c)
	go func() {
		for i := 0; ; i++ {
			time.Sleep(time.Second)
			runtime.GC()
			f, _ := os.Create(fmt.Sprintf("%s/heap-%03d.prof", dir, i))
			pprof.WriteHeapProfile(f)
			f.Close()
			pprof.StopCPUProfile()
			c.Close()
			c, _ = os.Create(fmt.Sprintf("%s/cpu-%03d.prof", dir, i+1))
			pprof.StartCPUProfile(c)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			fmt.Fprintln(os.Stderr, "ZZ", i, "live MB", m.HeapAlloc>>20, "sys", m.Sys>>20)
		}
	}()
}
