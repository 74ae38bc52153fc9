package testserver

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Batches say how the batch APIs behave. The zero value ends a batch when it is made, with an answer to every request.
type Batches struct {
	Delay time.Duration // from the start of a batch to its end
	// Late is how long after its request a batch is there, and answered for, even if the client has gone away.
	Late time.Duration
	// Expire and Fail are the probabilities that a request expires, and that it fails; drawn once per batch.
	Expire, Fail float64
	// Most, if positive, is the number of requests above which OpenAI's API takes a batch back for being too large.
	Most   int
	Refuse string // why every batch is taken back, but Anthropic's; "": none is
	// Results is what is wrong, by its name in replies.yaml, in how many calls Faulty (0: all until [Server.Heal]).
	Results    string
	Faulty     int
	NoMetadata bool // forgets the metadata of batches
	Page       int  // the most that a page of a list has; 0: as many as asked for
}

// Heal ends the fault of batches.
func (s *Server) Heal() { s.healed.Store(true) }

type batch struct {
	ID            string
	Created, ends time.Time
	Problem       string // why it was taken back
	Full          bool   // for its size
	Input         string // OpenAI: the file of requests
	Path          string // OpenAI
	Tag           string // OpenAI: the metadata; Gemini: the display name
	Results       []batchResult
}

type batchResult struct {
	ID     string
	Status int    // 0: expired
	Body   []byte // the answer or the error, in the API's form
}

type file struct {
	ID, Name string
	Content  []byte
}

// SetDown makes the server close every new connection without an answer, or answer again.
func (s *Server) SetDown(down bool) { s.down.Store(down) }

func (c *exchange) missing() { c.fail(said("no object", c.r.URL.Path)) }

// batchAsk is one request of a batch: the call that it would be by itself.
type batchAsk struct {
	id   string
	path string
	body []byte
	form string // the template of an answer; "": path
}

// start makes a batch, answers its requests, and returns it when the API would.
func (c *exchange) start(b *batch, asks []batchAsk) *batch {
	o := c.opts.Batches
	c.book.do(func(k *book) {
		k.stats.Creates++
		b.ID = fmt.Sprintf("batch_%04d", k.stats.Creates)
	})
	time.Sleep(o.Late) // whatever becomes of the client
	b.Created = time.Now().UTC()
	b.ends = b.Created
	if o.Most > 0 && len(asks) > o.Most && b.Input != "" {
		b.Problem = fmt.Sprintf("Enqueued token limit reached: %d requests, limit %d.", len(asks), o.Most)
		b.Full = true
	} else if c.protocol != Anthropic {
		b.Problem = o.Refuse
	}
	if b.Problem == "" {
		b.ends = b.Created.Add(o.Delay)
		for i, a := range slices.Backward(asks) { // in any order
			u := uniform(c.opts.Seed, "batch", fmt.Sprint(b.ID, a.id), i)
			r := batchResult{ID: a.id}
			switch {
			case u < o.Expire:
			case u < o.Expire+o.Fail:
				r.Status, r.Body = 500, failed(c.protocol, 500).body(c.protocol)
			default:
				r.Status, r.Body = c.one(a)
			}
			b.Results = append(b.Results, r)
		}
	}
	c.book.do(func(k *book) {
		k.batches = append(k.batches, b)
		if b.Problem == "" {
			k.stats.Batches++
		}
		for _, r := range b.Results {
			if r.Status == 200 {
				k.stats.Paid[r.ID]++
			}
		}
	})
	return b
}

func (c *exchange) one(a batchAsk) (status int, body []byte) {
	r := c.r.Clone(c.r.Context())
	r.Method, r.URL.Path = http.MethodPost, a.path
	x := c.exchange(nil, r, a.body)
	q, p := x.parse()
	if p != nil {
		return p.status(), p.body(x.protocol)
	}
	outcome := c.opts.fate(x.hash, 1).outcome
	if a.form != "" {
		return 200, q.body(a.form, x.choose(q, outcome))
	}
	return 200, x.answer(q, 1, outcome)
}

func (c *exchange) find(id string) (found *batch) {
	c.book.do(func(*book) {
		if i := slices.IndexFunc(c.book.batches, func(b *batch) bool { return b.ID == id }); i >= 0 {
			found = c.book.batches[i]
		}
	})
	return found
}

// Ended reports whether a batch is answered or taken back.
func (b *batch) Ended() bool { return !time.Now().Before(b.ends) }

// Done reports whether it is answered.
func (b *batch) Done() bool { return b.Problem == "" && b.Ended() }

func (b *batch) Unanswered() int { return len(b.Results) - b.Count(200, 200) }

// Count is the number of results with a status from low to high.
func (b *batch) Count(low, high int) (n int) {
	for _, r := range b.Results {
		if low <= r.Status && r.Status <= high {
			n++
		}
	}
	return n
}
