package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A refusal says why a request is not answered as it asks.
type refusal struct {
	status  int
	reason  string // of the constants below; empty if it is about who asks, not for what
	message string
}

func (e *refusal) Error() string { return e.message }

// Reasons.
const (
	noJSON      = "input"
	badLanguage = "language"
	large       = "size"
	late        = "time"
	busy        = "busy"
)

// said explains reasons.
var said = map[string]string{
	noJSON:      "it is not the JSON that was expected",
	badLanguage: "its language cannot be judged",
	large:       "it is too large",
	late:        "it took too long",
	busy:        "there were too many requests at a time",
}

// errBusy means that there is no room for a request's body, or its answer, now.
var errBusy = &refusal{http.StatusServiceUnavailable, busy, "Too many large requests at a time. Try again soon."}

func tooLarge(format string, args ...any) error {
	return &refusal{http.StatusRequestEntityTooLarge, large, fmt.Sprintf(format, args...)}
}

// fail answers with an error, or lets what a gateway sent pass if the service only observes.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := &refusal{http.StatusBadRequest, noJSON, ""}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = &refusal{http.StatusServiceUnavailable, late,
			fmt.Sprintf("The request took longer than %v. Send less at a time.", longest)}
	}
	errors.As(err, &f)
	message := err.Error()
	if !s.Block && f.reason != "" {
		if pass := passing(r.URL.Path, message); pass != nil {
			s.unchecked(s.Log, f.reason)
			s.log.add(event{Time: time.Now(), Route: strings.Trim(r.URL.Path, "/"), Verdict: unchecked, Reason: f.reason,
				Action: Allow})
			respond(w, pass)
			return
		}
	}
	s.refused(f)
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// refuse is fail with a status.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.fail(w, r, &refusal{status, map[int]string{
		http.StatusRequestTimeout:        late,
		http.StatusRequestEntityTooLarge: large,
		http.StatusRequestURITooLong:     large,
		http.StatusServiceUnavailable:    busy,
	}[status], message})
}

// passing is the answer that lets pass what was sent to a gateway's path; nil for other paths.
func passing(path, why string) any {
	switch path {
	case litellmPath:
		return none
	case portkeyPath:
		return map[string]any{"verdict": true, "data": map[string]string{"reason": "not checked: " + why}}
	case promptfooPath:
		return map[string]any{"pass": true, "score": 0, "reason": "not checked: " + why}
	}
	return nil
}
