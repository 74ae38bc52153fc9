//go:build unix

package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// stopped lets a program use what is written for tests: a call that would end the test panics with the message instead.
type stopped struct {
	testing.TB // nil: methods that are not here are not called
	cleanups   []func()
}

type message string

func (*stopped) Helper()                       {}
func (*stopped) Fatal(args ...any)             { panic(message(fmt.Sprint(args...))) }
func (*stopped) Fatalf(text string, a ...any)  { panic(message(fmt.Sprintf(text, a...))) }
func (s *stopped) Skipf(text string, a ...any) { s.Fatalf(text, a...) }
func (s *stopped) Skip(args ...any)            { s.Fatal(args...) }
func (s *stopped) Cleanup(f func())            { s.cleanups = append(s.cleanups, f) }

// asTest calls f, then what it left to clean up, and returns what would have ended a test as an error.
func asTest(f func(testing.TB)) (err error) {
	s := &stopped{}
	defer func() {
		for _, clean := range slices.Backward(s.cleanups) {
			clean()
		}
		switch m := recover().(type) {
		case nil:
		case message:
			err = errors.New(string(m))
		default:
			panic(m)
		}
	}()
	f(s)
	return nil
}
