package journal

import (
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Progress is how far a run has come.
type Progress struct {
	Done   int                        // asks, with an answer or failed
	Failed int                        // of Done
	Status map[crosstalk.Status]int   // Done by status
	Usage  map[string]crosstalk.Usage // by model, prompts and completions only

	Last time.Time // when the latest answer came; zero: none has
	Rate float64   // answers per second, over the latest ones of a minute; 0: not known
}

// Progress counts the asks. It reads counts that the journal keeps, and a few answers.
func (j *Journal) Progress() (p Progress, err error) {
	p.Usage, p.Status = map[string]crosstalk.Usage{}, map[crosstalk.Status]int{}
	err = j.query("SELECT model, status, asks, prompt_tokens, completion_tokens FROM counts", func(s *sqlite3.Stmt) error {
		n, model := s.ColumnInt(2), s.ColumnText(0)
		p.Done += n
		p.Status[crosstalk.Status(s.ColumnText(1))] += n
		u := p.Usage[model]
		u.Prompt += s.ColumnInt(3)
		u.Completion += s.ColumnInt(4)
		p.Usage[model] = u
		return nil
	})
	if err != nil {
		return p, err
	}
	p.Failed = p.Status[crosstalk.Failed]
	err = j.query("WITH latest AS (SELECT answered_at AS at FROM asks ORDER BY rowid DESC LIMIT 500) "+
		"SELECT max(at), min(at), count(*) FROM latest WHERE at >= (SELECT max(at) FROM latest) - 60000",
		func(s *sqlite3.Stmt) error {
			n := s.ColumnInt(2)
			if n > 0 {
				p.Last = time.UnixMilli(s.ColumnInt64(0))
			}
			if took := p.Last.Sub(time.UnixMilli(s.ColumnInt64(1))).Seconds(); took > 0 {
				p.Rate = float64(n-1) / took
			}
			return nil
		})
	return p, err
}

// tally counts the asks with one model and status, so that nobody has to read them all.
type tally struct{ asks, prompt, completion int64 }

type tallied struct{ model, status string }

func (t tallied) failed() bool { return t.status == string(crosstalk.Failed) }

type sums map[tallied]*tally

// add adds asks, or takes them away: times is 1 or -1.
func (s sums) add(of tallied, t tally, times int64) {
	sum := s[of]
	if sum == nil {
		sum = &tally{}
		s[of] = sum
	}
	sum.asks += times * t.asks
	sum.prompt += times * t.prompt
	sum.completion += times * t.completion
}

func (s sums) row(row []value) {
	s.add(tallied{string(row[modelColumn].bytes), string(row[statusColumn].bytes)},
		tally{1, row[promptColumn].number, row[completionColumn].number}, 1)
}

// counts are what the transaction changes of the table counts. Only who writes uses them.
type counts struct {
	changed sums
	add     *sqlite3.Stmt
}

// counting is counts.add.
const counting = "INSERT INTO counts (model, status, asks, prompt_tokens, completion_tokens) VALUES (?, ?, ?, ?, ?)" +
	" ON CONFLICT (model, status) DO UPDATE SET asks = asks + excluded.asks," +
	" prompt_tokens = prompt_tokens + excluded.prompt_tokens," +
	" completion_tokens = completion_tokens + excluded.completion_tokens"

// known describes an ask before another answer comes.
const known = "SELECT status, attempts, model, prompt_tokens, completion_tokens FROM asks WHERE key = ?"

func (c *counts) save() error {
	for of, t := range c.changed {
		if err := run(c.add, of.model, of.status, t.asks, t.prompt, t.completion); err != nil {
			return err
		}
	}
	clear(c.changed)
	return nil
}
