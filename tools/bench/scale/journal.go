package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
)

// journal fills a journal with n short answers, in this process, and then times what a run and its readers do with it:
// open it, save one answer more, find one, and count all. The rates of the tenths show whether a journal gets slower as
// it grows.
func (b *measuring) journal(n int) error {
	path := filepath.Join(b.dir, fmt.Sprintf("journal-%d.db", n))
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	started := time.Now()
	var rates []float64 // of tenths
	for part := range 10 {
		from, to := n*part/10, n*(part+1)/10
		took, err := each(1, func(int) error { return fill(j, from, to) })
		if err != nil {
			return errors.Join(err, j.Close())
		}
		rates = append(rates, float64(to-from)/took.Seconds())
	}
	filled := time.Since(started)
	if err := j.Close(); err != nil {
		return err
	}
	open, err := each(1, func(int) (err error) { j, err = journal.Open(path); return err })
	if err != nil {
		return err
	}
	const times = 1000
	save, failed := each(times, func(i int) error { return j.Put(answered(n + i)) })
	found, lost := each(times, func(int) error {
		r := answered(rand.IntN(n))
		_, found, err := j.Get(crosstalk.KeyOf(r.Identity, r.Request))
		if err == nil && !found {
			err = errors.New("an answer is not in the journal")
		}
		return err
	})
	count, err := each(1, func(int) error { _, err := j.Progress(); return err })
	if err := errors.Join(failed, lost, err, j.Close()); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("journal  %8d: filled in %.1f s (%.0f/s; by tenths %.0f), opened in %v, "+
		"one more saved in %v, one found in %v, all counted in %v, %d MB\n",
		n, filled.Seconds(), float64(n)/filled.Seconds(), rates, open, save, found, count, info.Size()/1e6)
	return nil
}

// each does something several times, and returns the mean duration.
func each(times int, do func(i int) error) (time.Duration, error) {
	started := time.Now()
	for i := range times {
		if err := do(i); err != nil {
			return 0, err
		}
	}
	return (time.Since(started) / time.Duration(times)).Round(time.Microsecond), nil
}

// fill saves the answers from one number up to another, as many at a time as a run with a high concurrency.
func fill(j *journal.Journal, from, to int) error {
	var group sync.WaitGroup
	var next atomic.Int64
	next.Store(int64(from))
	errs := make([]error, 256)
	for k := range errs {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= to || errs[k] != nil {
					return
				}
				errs[k] = j.Put(answered(i))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// answered is the record of a number.
func answered(i int) journal.Record {
	l := languages[i%len(languages)]
	r := journal.Record{Identity: crosstalk.Identity{Provider: "compatible", Name: "m"},
		Request: crosstalk.Request{API: crosstalk.Chat,
			Messages: []crosstalk.Message{{Role: "user", Content: fmt.Sprintf("%s %d", l.prompt, i)}}},
		Answer: crosstalk.Answer{Status: crosstalk.Text, Text: strings.Repeat("*", 1+i%7),
			Model: "m", Finish: "stop", Attempts: 1,
			Usage: crosstalk.Usage{Prompt: 12, Completion: 40}, Time: time.UnixMilli(1767225600000 + int64(i))}}
	r.Answer.Key = crosstalk.KeyOf(r.Identity, r.Request)
	return r
}
