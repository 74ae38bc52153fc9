package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// turnAway lets the kernel ignore clients that begin to connect; those that have begun can still finish. A listener
// that closes instead cuts connections that it has not accepted yet.
func turnAway(l *net.TCPListener) {
	const flags, syn = 13, 2 // of a TCP header, where the filter begins
	ignore := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 16}, // more bytes than a packet has
	}
	raw, err := l.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		filter := unix.SockFprog{Len: uint16(len(ignore)), Filter: &ignore[0]}
		// Without the filter, which a sandbox may refuse, a client that connects while the listener closes is cut.
		unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &filter)
	})
}
