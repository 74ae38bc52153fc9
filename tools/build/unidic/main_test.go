package main

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"
)

func TestCurrent(t *testing.T) { command.Current(t) }

// TestBlocks compares the costs of two words in a row, as the blocks give them, with those of UniDic's own matrix.
func TestBlocks(t *testing.T) {
	command.Need(t)
	matrix, err := os.Open("/var/lib/mecab/dic/unidic/matrix.bin")
	if err != nil {
		t.Skip("UniDic's matrix is not there: ", err)
	}
	defer matrix.Close()
	var size [2]uint16 // context ids of the first word, of the second
	if err := binary.Read(matrix, binary.LittleEndian, &size); err != nil {
		t.Fatal(err)
	}
	m, err := readModel(command.In)
	if err != nil {
		t.Fatal(err)
	}
	blocks := m.blocks()
	random := rand.New(rand.NewPCG(1, 2))
	const n = 20000
	near := 0
	for range n {
		from, to := random.IntN(int(size[0])), random.IntN(int(size[1]))
		var cell [2]byte
		if _, err := matrix.ReadAt(cell[:], int64(4+2*(from+int(size[0])*to))); err != nil {
			t.Fatal(err)
		}
		steps := 0
		for _, b := range blocks {
			for _, table := range b.tables {
				if key := table.from[b.from[from]]; key > 0 {
					steps += table.weights[key-1][table.to[b.to[to]]]
				}
			}
		}
		switch want := int(int16(binary.LittleEndian.Uint16(cell[:]))); steps/stepsPerUnit - want {
		case 0:
		case -1, 1:
			near++
		default:
			t.Errorf("ids %d and %d: cost %d, want %d", from, to, steps/stepsPerUnit, want)
		}
	}
	t.Logf("of %d costs %d are one off", n, near)
	if near > n/10 {
		t.Errorf("of %d costs %d are one off, want at most a tenth", n, near)
	}
}
