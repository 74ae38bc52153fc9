package table

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

const (
	// maxRecord limits one record, because a few compressed bytes can expand
	// to a line of gigabytes.
	maxRecord = 16 << 20
	// maxWorkbook limits a workbook, both packed and unpacked: it is a zip
	// file.
	maxWorkbook = 256 << 20
)

// gunzip returns the content of a gzip file.
func gunzip(in io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("is not a gzip file: %w", err)
	}
	return bufio.NewReaderSize(packed{z}, 1<<16), nil
}

type packed struct{ *gzip.Reader }

func (p packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the gzip file is truncated or damaged: %w", err)
	}
	return n, err
}

// bounded is a reader that fails when more than the given number of bytes is
// read between resets.
type bounded struct {
	in        io.Reader
	most, got int
}

func (b *bounded) reset() { b.got = 0 }

func (b *bounded) Read(p []byte) (int, error) {
	if b.got > b.most {
		return 0, tooLong(b.most)
	}
	n, err := b.in.Read(p)
	b.got += n
	return n, err
}

func tooLong(most int) error { return fmt.Errorf("is longer than %d MiB", most>>20) }
