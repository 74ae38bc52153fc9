package main

import "testing"

func TestCurrent(t *testing.T) { command.Current(t) }
