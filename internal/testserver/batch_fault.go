package testserver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// change is what a fault changes in the answers to some calls; replies.yaml lists them.
type change struct {
	Of     string   // upload, create, list, look, results
	Status int      // of an error instead; 0: none
	Edit   []string // pairs: an expression, and what takes the place of its matches in the body
	Do     string   // the name of what else is done: with the results, with the body, or instead of sending it
}

var withResults = map[string]func([]batchResult) []batchResult{
	"half": func(all []batchResult) []batchResult { return all[:(len(all)+1)/2] },
	"twice": func(all []batchResult) []batchResult {
		for _, r := range all {
			other := r
			other.Body = regexp.MustCompile(`"(content|text)":"`).ReplaceAll(r.Body, []byte("${0}OTHER "))
			all = append(all, r, other)
		}
		return all
	},
	"foreign": func(all []batchResult) []batchResult {
		for _, r := range all {
			r.ID = fmt.Sprintf("%064x", len(all))
			all = append(all, r)
		}
		return all
	},
	"swapped": func(all []batchResult) []batchResult {
		first := all[0].ID
		for i := range all[1:] {
			all[i].ID = all[i+1].ID
		}
		all[len(all)-1].ID = first
		return all
	},
	"failed": func(all []batchResult) []batchResult {
		for i := range all {
			all[i].Status, all[i].Body = 500, []byte(`{"type":"error","error":{"type":"api_error","message":"x"}}`)
		}
		return all
	},
}

var withBody = map[string]func([]byte) []byte{
	"page": func([]byte) []byte { return htmlPage(200) },
	"cut":  func(b []byte) []byte { return b[:len(b)/2] },
	"long": func(b []byte) []byte {
		return append([]byte(`{"pad":"`+strings.Repeat("x", 17<<20)+`",`), b[1:]...)
	},
	"noise": func([]byte) []byte {
		noise := make([]byte, 300_000)
		rand.NewChaCha8([32]byte{}).Read(noise)
		return noise
	},
	"wait": func(b []byte) []byte {
		time.Sleep(300 * time.Millisecond)
		return b
	},
	"damage": func(b []byte) []byte { // cuts the first line, and adds one of no request
		first, rest, _ := bytes.Cut(b, []byte("\n"))
		stranger := bytes.Clone(first)
		b = slices.Concat(first[:len(first)/2], []byte("\n"), rest)
		if i := bytes.Index(stranger, []byte(`_id":"`)); i > 0 {
			stranger[i+6] ^= 1
			b = slices.Concat(b, stranger, []byte("\n"))
		}
		return b
	},
	"others": func([]byte) []byte { // a page of batches that others made, after which another page comes
		at, id := time.Now(), fmt.Sprintf("batch_x%d", time.Now().UnixNano())
		return fmt.Appendf(nil, `{"data":[{"id":%q,"created_at":%d,"metadata":{"crosstalk":"another"}}],"has_more":true,`+
			`"last_id":%[1]q,"operations":[{"name":"batches/%[1]s","metadata":{"displayName":"another"}}],`+
			`"nextPageToken":%[1]q}`, id, at.Unix())
	},
}

var instead = map[string]func(*exchange, []byte){
	"hang up": func(*exchange, []byte) { panic(http.ErrAbortHandler) },
	"redirect": func(c *exchange, _ []byte) {
		http.Redirect(c.w, c.r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
	},
	"break off": func(c *exchange, body []byte) {
		c.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		c.w.Write(body[:len(body)/2])
		http.NewResponseController(c.w).Flush()
		panic(http.ErrAbortHandler)
	},
	"never end": func(c *exchange, _ []byte) {
		lines := bytes.Repeat([]byte(`{"custom_id":"x"}`+"\n"), 1000)
		for {
			if _, err := c.w.Write(lines); err != nil {
				return
			}
		}
	},
}

// changes are the fault's in the answer to a call, if that shows it. A call may have several names.
func (c *exchange) changes(call string) (list []change) {
	o := c.opts.Batches
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	for _, change := range data().Batches[o.Results] {
		if strings.Contains(call, change.Of) && (change.Of != "create" || c.book.stats.Creates == 1) {
			list = append(list, change)
		}
	}
	if list == nil || c.healed.Load() || o.Faulty > 0 && c.book.shown >= o.Faulty {
		return nil
	}
	c.book.shown++
	return list
}

func (c *exchange) say(changes []change, mediaType string, body []byte) {
	for _, f := range changes {
		for pair := range slices.Chunk(f.Edit, 2) {
			body = regexp.MustCompile(`(?s)`+pair[0]).ReplaceAll(body, []byte(pair[1]))
		}
		if do := withBody[f.Do]; do != nil && len(body) > 0 {
			body = do(body)
		}
		switch send := instead[f.Do]; {
		case f.Status != 0:
			c.fail(failed(c.protocol, f.Status))
			return
		case send != nil:
			send(c, body)
			return
		}
	}
	if bytes.HasPrefix(body, []byte("<")) {
		mediaType = "text/html; charset=utf-8"
	}
	c.w.Header().Set("Content-Type", mediaType)
	c.w.Write(body)
}

func show(changes []change, all []batchResult) []batchResult {
	all = slices.Clone(all)
	for _, f := range changes {
		if do := withResults[f.Do]; do != nil && len(all) > 0 {
			all = do(all)
		}
	}
	return all
}
