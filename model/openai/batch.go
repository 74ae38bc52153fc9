package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/model/endpoint"
)

// Batcher is a Model whose server has OpenAI's batch API: a file of requests is uploaded, a batch is created from it,
// and two files have the results. (https://developers.openai.com/api/reference/go/resources/batches)
type Batcher struct{ *Model }

var _ crosstalk.Batcher = Batcher{}

// Limits of a file. OpenAI accepts 50,000 requests and 200 MB; Together and older servers accept 100 MB.
const (
	mostAsks  = 50_000
	mostBytes = 90 << 20
)

func (b Batcher) Fits(asks []crosstalk.BatchAsk) int {
	return endpoint.Fits(asks, mostAsks, mostBytes, func(a crosstalk.BatchAsk) int {
		line, _ := b.line(a) // Submit reports any error
		return len(line)
	})
}

func (b Batcher) line(a crosstalk.BatchAsk) ([]byte, error) {
	body, err := b.body(a.Request, b.dialect.Load())
	if err != nil {
		return nil, err
	}
	line := struct {
		ID     string          `json:"custom_id"`
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body"`
	}{a.Key.String(), http.MethodPost, "/v1" + pathOf(a.Request.API), body}
	return append(crosstalk.Canonical(line), '\n'), nil
}

const tagName = "crosstalk"

func (b Batcher) Submit(ctx context.Context, tag string, asks []crosstalk.BatchAsk) (string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	w.WriteField("purpose", "batch")                                 // writing to a buffer cannot fail
	file, err := w.CreateFormFile("file", "crosstalk-"+tag+".jsonl") // nameOf parses it
	if err != nil {
		return "", err
	}
	for _, a := range asks {
		line, err := b.line(a)
		if err != nil {
			return "", err
		}
		file.Write(line)
	}
	w.Close()
	var uploaded, made batch
	raw, err := b.endpoint.Post(ctx, "/files", w.FormDataContentType(), form.Bytes())
	if err := b.endpoint.Account(raw, err, &uploaded, &uploaded.ID); err != nil {
		return "", err
	}
	return b.endpoint.Make(ctx, "/batches", map[string]any{
		"input_file_id": uploaded.ID, "endpoint": "/v1" + pathOf(asks[0].Request.API), "completion_window": "24h",
		"metadata": map[string]string{tagName: tag},
	}, &made, &made.ID)
}

type batch struct {
	ID        string                                 `json:"id"`
	Status    string                                 `json:"status"`
	Input     string                                 `json:"input_file_id"`
	Output    string                                 `json:"output_file_id"`
	ErrorFile string                                 `json:"error_file_id"`
	Created   int64                                  `json:"created_at"` // Unix time in s
	Metadata  map[string]string                      `json:"metadata"`
	Counts    struct{ Total, Completed, Failed int } `json:"request_counts"`
	Errors    struct {
		Data []struct{ Code, Message string } `json:"data"`
	} `json:"errors"`
}

func (b Batcher) get(ctx context.Context, id string) (got batch, err error) {
	raw, err := b.endpoint.Get(ctx, "/batches/"+url.PathEscape(id))
	err = b.endpoint.Account(raw, err, &got, &got.ID)
	return got, err
}

// Find implements crosstalk.Batcher. A server that keeps no metadata still has the name of the file.
func (b Batcher) Find(ctx context.Context, tag string, at time.Time, _ []crosstalk.BatchAsk,
	_ func(string) bool) (id string, sure bool, err error) {
	earliest := at.Add(-24 * time.Hour).Unix() // the clock may be wrong
	err = b.endpoint.Pages(ctx, "/batches?limit=100", func(raw []byte) (string, error) {
		var page struct {
			Data    []batch `json:"data"`
			HasMore bool    `json:"has_more"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return "", b.endpoint.Unread("the list of batches at "+b.Identity().Endpoint, err)
		}
		for _, one := range page.Data {
			if one.Created < earliest {
				continue
			}
			name := one.Metadata[tagName]
			if name == "" {
				if name, err = b.nameOf(ctx, one.Input); err != nil {
					return "", err
				}
			}
			if name == tag {
				id = one.ID
				return "", nil
			}
		}
		if len(page.Data) == 0 || !page.HasMore {
			return "", nil
		}
		last := page.Data[len(page.Data)-1]
		if last.Created < earliest && last.Created <= page.Data[0].Created { // the newest come first, as at OpenAI
			return "", nil
		}
		return "&after=" + url.QueryEscape(last.ID), nil
	})
	return id, err == nil, err
}

func (b Batcher) nameOf(ctx context.Context, file string) (string, error) {
	raw, err := b.endpoint.Get(ctx, "/files/"+url.PathEscape(file))
	var f struct{ Filename string }
	switch {
	case gone(err):
		return "", nil
	case err == nil:
		json.Unmarshal(raw, &f)
	}
	return strings.TrimSuffix(strings.TrimPrefix(f.Filename, "crosstalk-"), ".jsonl"), err
}

func gone(err error) bool {
	var e *crosstalk.AskError
	return errors.As(err, &e) && (e.Status == 404 || e.Status == 410)
}

func (b Batcher) Poll(ctx context.Context, id string) (crosstalk.BatchState, error) {
	got, err := b.get(ctx, id)
	s := crosstalk.BatchState{Done: got.Counts.Completed + got.Counts.Failed}
	switch status := strings.ToLower(got.Status); {
	case status == "completed":
		s.Ended, s.Failed = true, got.Counts.Failed
	case status == "expired", status == "cancelled", status == "failed" && got.Counts.Completed > 0:
		s.Ended, s.Failed = true, got.Counts.Total-got.Counts.Completed // Counts.Failed omits requests that were not begun
	case status == "failed":
		s.Ended, s.Problem = true, "the server does not say why"
		for i, e := range got.Errors.Data {
			if i == 0 {
				s.Problem = b.endpoint.Quote(fmt.Sprintf("%s (%s)", e.Message, e.Code))
			}
			s.Full = s.Full || e.Code == "token_limit_exceeded"
		}
	}
	return s, err
}

func (b Batcher) Results(ctx context.Context, id string,
	requests map[crosstalk.Key]crosstalk.Request) iter.Seq2[crosstalk.BatchResult, error] {
	got, err := b.get(ctx, id)
	if err != nil {
		return endpoint.NoResults(err)
	}
	return func(yield func(crosstalk.BatchResult, error) bool) {
		read := func(text []byte) crosstalk.BatchResult {
			var l struct {
				ID       string `json:"custom_id"`
				Response *struct {
					Status int             `json:"status_code"`
					Body   json.RawMessage `json:"body"`
				} `json:"response"`
				Error *struct{ Code, Message string } `json:"error"`
			}
			return endpoint.BatchResult(text, &l, &l.ID, requests, func(req crosstalk.Request) (crosstalk.Answer, error) {
				switch {
				case l.Response != nil && l.Response.Status != 0:
					return b.endpoint.Read(l.Response.Status, l.Response.Body, reader(req))
				case l.Error != nil:
					why := fmt.Sprintf("%s (%s)", l.Error.Message, l.Error.Code)
					return crosstalk.Answer{}, errors.New(b.endpoint.Quote(why))
				}
				return b.endpoint.Read(http.StatusOK, nil, reader(req)) // neither: no failure was reported
			})
		}
		var missing error
		for _, file := range []string{got.Output, got.ErrorFile} {
			if file == "" {
				continue
			}
			path := "/files/" + url.PathEscape(file) + "/content"
			for r, err := range b.endpoint.Results(ctx, path, read) {
				if gone(err) {
					missing = err // the other file may still exist
				} else if !yield(r, err) || err != nil {
					return
				}
			}
		}
		if missing != nil {
			yield(crosstalk.BatchResult{}, missing)
		}
	}
}
