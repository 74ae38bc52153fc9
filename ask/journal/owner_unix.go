//go:build unix

package journal

import (
	"io/fs"
	"os"
	"syscall"
)

func giveTo(f *os.File, of fs.FileInfo) {
	if s, ok := of.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(s.Uid), int(s.Gid))
	}
}
