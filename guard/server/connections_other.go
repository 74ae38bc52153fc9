//go:build !linux

package server

import "net"

// turnAway does nothing: a client that connects while the listener closes may be cut.
func turnAway(*net.TCPListener) {}
