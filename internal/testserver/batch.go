package testserver

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Batches say how the batch APIs behave. The zero value ends a batch when it is made, with an answer to every request.
type Batches struct {
	Delay time.Duration // from the start of a batch to its end
	// Late is how long after the last byte of the request a batch is there, and
	// answered for, even if the client has gone away meanwhile.
	Late time.Duration
	// Expire and Fail are the probabilities that a request expires, and that it
	// fails with a server error; drawn once per request and batch.
	Expire, Fail float64
	// Most, if positive, is the number of requests above which OpenAI's API takes a batch back for being too large.
	Most int
	// Refuse is why every batch is taken back, but Anthropic's; "": none is.
	Refuse string
	// Results is what is wrong, Faulty how often: in how many calls that show it (0: all until [Server.Heal]).
	Results ResultFault
	Faulty  int
	// NoMetadata forgets the metadata of batches.
	NoMetadata bool
	// Page is the most that a page of a list has; 0: as many as asked for.
	Page int
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

type batchBook struct {
	mu      sync.Mutex
	batches []*batch // in the order of creation
	files   map[string]*file
	paid    map[string]int // by the request's id in its batch
	shown   int            // calls that showed the fault
	calls   int            // of the batch APIs
	creates int            // of these, those that make a batch
}

type file struct {
	ID, Name string
	Content  []byte
}

func (b *batchBook) do(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// Paid is how often each request in a batch was paid for, by its id there.
func (s *Server) Paid() (paid map[string]int) {
	s.book.do(func() { paid = maps.Clone(s.book.paid) })
	return paid
}

// BatchCount is the number of batches that were made and run.
func (s *Server) BatchCount() (n int) {
	s.book.do(func() {
		for _, b := range s.book.batches {
			if b.Problem == "" {
				n++
			}
		}
	})
	return n
}

// BatchCalls is the number of calls of the batch APIs that have arrived, and how many of them make a batch.
func (s *Server) BatchCalls() (calls, creates int) {
	s.book.do(func() { calls, creates = s.book.calls, s.book.creates })
	return calls, creates
}

// SetDown makes the server close every new connection without an answer, or answer again.
func (s *Server) SetDown(down bool) { s.down.Store(down) }

type batchCall struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	body []byte
}

func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request, handle func(*batchCall)) {
	body, ok := s.read(w, r, 256<<20)
	if !ok {
		return
	}
	s.book.do(func() { s.book.calls++ })
	c := &batchCall{s, w, r, body}
	if p := c.authorize(c.r); p != nil {
		c.fail(p)
		return
	}
	handle(c)
}

func (c *batchCall) fail(p *problem) { reply(c.w, p.status(), p.body(protocolOf(c.r))) }

func (c *batchCall) missing() {
	c.fail(&problem{Status: 404, Message: "No such object: " + c.r.URL.Path, Param: "id", Code: "not_found"})
}

// batchAsk is one request of a batch: the call that it would be by itself.
type batchAsk struct {
	id   string
	path string
	body []byte
	form string // the template of an answer; "": path
}

// start makes a batch, answers its requests, and returns it when the API would.
func (c *batchCall) start(b *batch, asks []batchAsk) *batch {
	o, book, protocol := c.opts.Batches, &c.book, protocolOf(c.r)
	book.do(func() { book.creates++ })
	time.Sleep(o.Late) // whatever becomes of the client
	book.mu.Lock()
	defer book.mu.Unlock()
	b.Created = time.Now().UTC()
	b.ends = b.Created.Add(o.Delay)
	b.ID = fmt.Sprintf("batch_%04d", len(book.batches)+1)
	book.batches = append(book.batches, b)
	if o.Most > 0 && len(asks) > o.Most && b.Input != "" {
		b.Problem = fmt.Sprintf("Enqueued token limit reached: %d requests, limit %d.", len(asks), o.Most)
		b.Full = true
	} else if protocol != Anthropic {
		b.Problem = o.Refuse
	}
	if b.Problem != "" {
		b.ends = b.Created
		return b
	}
	for i, a := range slices.Backward(asks) { // in any order
		u := uniform(c.opts.Seed, "batch", fmt.Sprint(b.ID, a.id), i)
		r := batchResult{ID: a.id}
		switch {
		case u < o.Expire:
		case u < o.Expire+o.Fail:
			r.Status, r.Body = 500, failed(protocol, 500).body(protocol)
		default:
			r.Status, r.Body = c.one(a)
		}
		if r.Status == 200 {
			book.paid[a.id]++
		}
		b.Results = append(b.Results, r)
	}
	return b
}

func (c *batchCall) one(a batchAsk) (status int, body []byte) {
	r := c.r.Clone(c.r.Context())
	r.Method, r.URL.Path = http.MethodPost, a.path
	x := &exchange{Server: c.Server, r: r, protocol: protocolOf(r), hash: hashOf(r.Method, a.path, a.body)}
	q, p := c.parse(r, a.body)
	if p != nil {
		return p.status(), p.body(x.protocol)
	}
	outcome := c.opts.fate(x.hash, 1).outcome
	if a.form != "" {
		return 200, q.body(a.form, x.choose(q, outcome))
	}
	return 200, x.answer(q, 1, outcome)
}

func (c *batchCall) find(id string) (found *batch) {
	c.book.do(func() {
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

func (b *batch) Good() int       { return b.count(200, 200) }
func (b *batch) Expired() int    { return b.count(0, 0) }
func (b *batch) Bad() int        { return b.count(400, 599) }
func (b *batch) Unanswered() int { return len(b.Results) - b.Good() }

// count is the number of results with a status from low to high.
func (b *batch) count(low, high int) (n int) {
	for _, r := range b.Results {
		if low <= r.Status && r.Status <= high {
			n++
		}
	}
	return n
}

// page is a page of the batches, the newest first, after the one with this id; more says that others follow.
func (c *batchCall) page(after string, most int) (list []*batch, more bool) {
	most = min(most, cmp.Or(c.opts.Batches.Page, most))
	c.book.do(func() { list = slices.Clone(c.book.batches) })
	slices.Reverse(list)
	list = list[slices.IndexFunc(list, func(b *batch) bool { return b.ID == after })+1:]
	return list[:min(most, len(list))], len(list) > most
}
