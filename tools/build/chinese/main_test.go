package main

import "testing"

// The embedded file is what the builder makes.
func TestCurrent(t *testing.T) { command.Current(t) }
