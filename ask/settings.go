package ask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
)

// settings is one way of asking a model. Until an answer shows that it works, few asks are sent, and few failures
// show that it does not.
type settings struct {
	model     *model
	stopEmpty int
	stopper
	alone      sync.Mutex // held by the one ask of a batched run that goes ahead
	mu         sync.Mutex
	settled    bool // an answer shows that the settings work
	inFlight   int
	waiting    line
	failures   streak // before the model answered anything in this session
	rejections int
	empty      int // answers without text, while there are none with text
	cut        int // of these: cut at the token limit
	thought    int // of these: the model thought
	reasoning  int // tokens spent on thinking, if the server counts them
}

// firstAsks is how many asks are sent until one is answered: few, since a key may be wrong; several, since one may
// hang.
const firstAsks = 4

// tries is how many failures, with no success yet, prove that the settings are wrong.
const tries = 3

// enter waits until the model has answered with these settings, or until one of the first asks is over; back releases
// the slot.
func (s *settings) enter(ctx context.Context, t *trial) (back func(), err error) {
	back = func() {
		s.mu.Lock()
		s.leave()
		s.mu.Unlock()
	}
	s.mu.Lock()
	if s.room() {
		s.inFlight++
		s.mu.Unlock()
	} else if err := s.waiting.wait(ctx, s.waiting.join(t), &s.mu, s.leave); err != nil {
		return nil, err
	}
	if s.stop.Err() != nil { // which ctx may not have noticed yet
		back()
		return nil, context.Cause(s.stop)
	}
	return back, nil
}

// leave releases a slot. The caller holds mu.
func (s *settings) leave() {
	s.inFlight--
	s.admit()
}

// room reports whether another ask may be sent. The caller holds mu.
func (s *settings) room() bool {
	return s.settled || s.inFlight < firstAsks && (s.stopEmpty < 0 || s.empty+s.inFlight < s.stopEmpty)
}

// admit admits waiting asks while slots are free. The caller holds mu.
func (s *settings) admit() {
	for s.waiting.len() > 0 && s.room() {
		s.inFlight++
		s.waiting.next()
	}
}

// works records an answer. It returns an error if there are many by now and all are empty.
func (s *settings) works(answer crosstalk.Answer, cached bool) error {
	if !cached {
		s.model.answered.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.settled:
	case answer.Status != crosstalk.Empty || s.stopEmpty < 0:
		s.settled = true
		s.admit()
	case !cached: // earlier empty answers do not predict later ones
		s.empty++
		s.reasoning += answer.Usage.Reasoning
		if answer.Thought() {
			s.thought++
		}
		if answer.Finish == crosstalk.FinishLength {
			s.cut++
		}
		if s.empty >= s.stopEmpty {
			return &ModelError{s.model.id, &EmptyError{N: s.empty, Thought: s.thought, Reasoning: s.reasoning,
				text: s.explainEmpty()}}
		}
	}
	return nil
}

func (s *settings) isSettled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled
}

// explainEmpty advises what to do when all answers are empty. The caller holds mu.
func (s *settings) explainEmpty() string {
	what := fmt.Sprintf("%s: the first %d answers are all empty", s.model.id, s.empty)
	switch spent := "its"; {
	case s.reasoning > 0 || s.thought > 0:
		if s.reasoning > 0 {
			spent = fmt.Sprint(s.reasoning)
		}
		return fmt.Sprintf("%s: the model spent %s tokens on reasoning and said nothing: give it more with "+
			"--reasoning-tokens, turn reasoning off with --reasoning off, or raise --max-tokens", what, spent)
	case s.cut > 0:
		return fmt.Sprintf("%s, and %d were cut off at their limit: raise --max-tokens; if the model reasons before it "+
			"answers, give it --reasoning-tokens or turn reasoning off with --reasoning off", what, s.cut)
	}
	return what + ": check --system, --prefix and --param; if the model reasons before it answers, " +
		"give it --reasoning-tokens, turn reasoning off with --reasoning off, or raise --max-tokens"
}

// failed records a passing failure, before the model has answered in this session. It returns an error if there is no
// hope: an ask's retries are used up (spent), or the next attempt, after a pause, would end more than a minute after
// the first began; a server that is slow, or says when to come back, has longer.
func (s *settings) failed(t *trial, err error, attempts int, spent bool, pause time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case unreachable(err) && attempts >= tries:
		return s.model.giveUp(s.model.id, err)
	case s.settled && t.suspect: // a resumed run may have only such asks left
		return nil
	}
	s.failures.add(t, err)
	took, lost := time.Since(t.began), time.Since(s.failures.since)
	late := lost+pause+took > time.Minute
	switch {
	case said(err).Status == http.StatusTooManyRequests || said(err).RetryAfter > 0:
		late = lost+pause > s.model.endpoint.patience
	case errors.Is(err, errTimeout): // it may be loading the model
		late = late && lost+pause+took > 5*took/2
	}
	if s.failures.n < tries || !spent && !late ||
		s.settled && !s.failures.several { // an earlier run got answers: this ask itself may be to blame
		return nil
	}
	err = fmt.Errorf("%w; %d attempts in %s and no answer", err, s.failures.n, duration.Text(lost.Round(time.Second)))
	if s.model.answered.Load() {
		return s.giveUp(s.model.id, err)
	}
	return s.model.giveUp(s.model.id, err)
}

// rejected records a final error. It returns an error if there is no hope for these settings, or for the model.
func (s *settings) rejected(t *trial, err error) error {
	if said(err).Fault == crosstalk.Denied {
		return s.model.giveUp(s.model.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.settled: // the settings are fine
		return nil
	case said(err).Param != "":
		refused := &RefusedError{s.model.id, said(err).Param, err}
		s.halt(refused)
		return refused
	case t.suspect: // a resumed run may have only such requests left
		return nil
	}
	if s.rejections++; s.rejections >= tries {
		return s.giveUp(s.model.id, err)
	}
	return nil
}
