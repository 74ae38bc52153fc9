package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/model/anthropic"
	"crosstalk/model/endpoint"
)

// List asks a provider's server for its models and returns their names, sorted, as Open takes them. name is the
// provider, or provider:part for those with the part in their names, in any case. Errors contain no API key.
func List(ctx context.Context, name string, o Options) ([]string, error) {
	provider, part, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), ":")
	p, c, err := find(provider, "models", o)
	if err != nil {
		return nil, err
	}
	path := "/models"
	if p.Protocol == anthropicMessages {
		c.Header = anthropic.Headers(c.Header)
		path += "?limit=1000"
	}
	e, err := endpoint.New(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", provider, err)
	}
	var all []string
	err = e.Pages(ctx, path, func(body []byte) (string, error) {
		names, last, err := readList(body)
		if err != nil {
			return "", fmt.Errorf("%s: the list of models at %s cannot be read: %w", provider, e.Identity().Endpoint, err)
		}
		if all = append(all, names...); last == "" || len(all) > 50_000 {
			return "", nil
		}
		return "&after_id=" + url.QueryEscape(last), nil
	})
	if refused := (*crosstalk.AskError)(nil); errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
			return nil, fmt.Errorf("%s: %s has no list of models (HTTP %d), or the base URL is wrong (most end in /v1)",
				provider, e.Identity().Endpoint, refused.Status)
		}
		// The error is about a model by name, and there is none.
		return nil, fmt.Errorf("%s: %s", provider, strings.TrimPrefix(refused.Message, e.Identity().String()+": "))
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var chosen []string
	for _, name := range all {
		if strings.Contains(strings.ToLower(name), part) {
			chosen = append(chosen, provider+":"+name)
		}
	}
	if len(chosen) == 0 && len(all) > 0 {
		return nil, fmt.Errorf("none of the %d models of %s has %q in its name", len(all), provider, part)
	}
	return chosen, nil
}

// readList reads a page: {"data": [...]} (OpenAI, Anthropic and most), a bare list (Together), or {"models": [...]}
// (Cohere). Next is the last name of a page that others follow.
func readList(body []byte) (names []string, next string, err error) {
	var page struct {
		Data, Models []struct{ ID, Name string }
		HasMore      bool   `json:"has_more"`
		Last         string `json:"last_id"`
	}
	if err := json.Unmarshal(body, &page.Data); err != nil {
		page.Data = nil
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, "", err
		}
		if page.Data == nil && page.Models == nil {
			return nil, "", fmt.Errorf("expected a list named data or models")
		}
	}
	for _, m := range append(page.Data, page.Models...) {
		if name := strings.TrimPrefix(cmp.Or(m.ID, m.Name), "models/"); name != "" { // Gemini
			names = append(names, name)
		}
	}
	if page.HasMore {
		next = page.Last
	}
	return names, next, nil
}
