//go:build unix

package ollama

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// A chain is a language model that is a table: the next token depends on the last one alone. A server that answers with
// it gives log probabilities that can be checked against the table.
type chain struct {
	tokens []string       // in SentencePiece's spelling, ▁ for a space
	kinds  []int32        // GGUF's: 1 normal, 2 unknown, 3 control, 5 unused, 6 byte
	next   [][]float64    // next[a][b] is the log probability of b after a
	id     map[string]int // of the words, as a server spells them: " red"
}

const (
	width     = 384 // tokens, and the size of the hidden state
	end       = 2   // the token that ends an answer
	firstByte = 3
	firstWord = firstByte + 256
)

// The vocabulary has several scripts, so that language confusion has something to find.
var vocabulary = strings.Fields(`
yes no red green blue black small big old young the a my our this one two and or but with under near
cat horse river bridge window paper lamp school market winter summer morning night music bread salt
apple boat stone cloud
goes comes finds loses opens closes paints carries forgets remembers slowly often here there again
der die das Hund Baum Fenster Straße kommt geht heute nicht und sehr schön el la perro calle mesa viene hoy muy
собака дерево улица окно сегодня идёт очень 狗 树 街道 今天 来 很 犬 木 窓 今日 とても شجرة شارع اليوم كلب नदी पेड़ आज 나무 거리 오늘`)

// newChain makes the table of a seed. A full stop is often followed by yes or no, which is what the consistency suite
// asks for, and an answer has about ten words.
func newChain(seed uint64) *chain {
	c := &chain{tokens: []string{"<unk>", "<s>", "</s>"}, kinds: []int32{2, 3, 3}, id: map[string]int{}}
	add := func(token string, kind int32) {
		c.tokens, c.kinds = append(c.tokens, token), append(c.kinds, kind)
	}
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), 6)
	}
	for _, word := range vocabulary {
		c.id[" "+word] = len(c.tokens)
		add("▁"+word, 1)
	}
	words := len(c.tokens)
	for len(c.tokens) < width {
		add(fmt.Sprintf("<unused%d>", len(c.tokens)), 5)
	}
	random := rand.New(rand.NewPCG(seed, 12))
	for last := range width {
		p, sum := make([]float64, width), 0.0
		for word := firstWord; word < words; word++ {
			p[word] = math.Exp(random.NormFloat64())
			sum += p[word]
		}
		if last >= firstWord {
			p[end] = 0.1 * sum
		} else if last == firstByte+'.' {
			p[c.id[" yes"]], p[c.id[" no"]] = 4*sum, 4*sum
		}
		total := 0.0
		for i := range p {
			p[i] = max(p[i], 1e-7*sum)
			total += p[i]
		}
		for i := range p {
			p[i] = math.Log(p[i] / total)
		}
		c.next = append(c.next, p)
	}
	return c
}

// gguf writes the chain as a model of llama's architecture, in GGUF 3 (ggml's docs/gguf.md). The embedding of a token
// is one-hot and passes a layer whose weights are zero, so that the output matrix picks the row of the last token. If
// broken, the name of a tensor is wrong, and a server cannot load the model.
func (c *chain) gguf(broken bool) []byte {
	zero := func(row, column int) float32 { return 0 }
	one := func(row, column int) float32 { return 1 }
	type tensor struct {
		name          string
		columns, rows int // 1 row: a vector
		at            func(row, column int) float32
	}
	tensors := []tensor{
		{"token_embd.weight", width, width, func(row, column int) float32 {
			if row == column {
				return 1
			}
			return 0
		}},
		// The norm makes a one of sqrt(width) of a one-hot vector's one.
		{"output.weight", width, width, func(row, column int) float32 {
			return float32(c.next[column][row] / math.Sqrt(width))
		}},
		{"output_norm.weight", width, 1, one},
		{"blk.0.attn_norm.weight", width, 1, one},
		{"blk.0.ffn_norm.weight", width, 1, one},
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"} {
		if broken && name == "attn_q" {
			name = "attn_x"
		}
		tensors = append(tensors, tensor{"blk.0." + name + ".weight", width, width, zero})
	}
	scores := make([]float32, width)
	for i := range scores {
		scores[i] = -float32(i)
	}
	values := []struct {
		key   string
		value any
	}{
		{"general.architecture", "llama"},
		{"general.name", "chain"},
		{"llama.context_length", uint32(4096)},
		{"llama.embedding_length", uint32(width)},
		{"llama.block_count", uint32(1)},
		{"llama.feed_forward_length", uint32(width)},
		{"llama.attention.head_count", uint32(6)},
		{"llama.attention.head_count_kv", uint32(6)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-9)},
		{"llama.rope.dimension_count", uint32(width / 6)},
		{"llama.vocab_size", uint32(width)},
		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.tokens", c.tokens},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", c.kinds},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(end)},
		{"tokenizer.ggml.unknown_token_id", uint32(0)},
	}

	var b []byte
	put := func(v any) {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(err) // a value of no fixed size
		}
	}
	text := func(s string) { put(uint64(len(s))); b = append(b, s...) }
	b = append(b, "GGUF"...)
	put(uint32(3))
	put([]uint64{uint64(len(tensors)), uint64(len(values))})
	for _, v := range values {
		text(v.key)
		switch v := v.value.(type) {
		case uint32:
			put([]uint32{4, v})
		case float32:
			put(uint32(6))
			put(v)
		case string:
			put(uint32(8))
			text(v)
		case []int32:
			put([]uint32{9, 5})
			put(uint64(len(v)))
			put(v)
		case []float32:
			put([]uint32{9, 6})
			put(uint64(len(v)))
			put(v)
		case []string:
			put([]uint32{9, 8})
			put(uint64(len(v)))
			for _, s := range v {
				text(s)
			}
		}
	}
	offset := 0
	for _, t := range tensors {
		text(t.name)
		if t.rows == 1 {
			put(uint32(1))
			put(uint64(t.columns))
		} else {
			put(uint32(2))
			put([]uint64{uint64(t.columns), uint64(t.rows)})
		}
		put(uint32(0)) // F32
		put(uint64(offset))
		offset += 4 * t.columns * t.rows // a multiple of 32, the alignment
	}
	b = append(b, make([]byte, (32-len(b)%32)%32)...)
	for _, t := range tensors {
		for row := range t.rows {
			for column := range t.columns {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(t.at(row, column)))
			}
		}
	}
	return b
}
