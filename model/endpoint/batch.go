package endpoint

import (
	"encoding/json"
	"errors"

	"crosstalk"
)

// Unread is the error for what the server says of batches and cannot be read.
func (e *Endpoint) Unread(what string, cause error) error {
	return e.fault(crosstalk.Transient, 0, nil, "%s cannot be read: %v", what, cause)
}

// BatchResult reads a line with the result of a request of a batch into line, whose id
// is the request's key. read reads what line then has of the answer.
func BatchResult(text []byte, line any, id *string, requests map[crosstalk.Key]crosstalk.Request,
	read func(crosstalk.Request) (crosstalk.Answer, error)) (r crosstalk.BatchResult) {
	if r.Err = json.Unmarshal(text, line); r.Err != nil {
		return r
	}
	if r.Err = r.Key.UnmarshalText([]byte(*id)); r.Err != nil {
		return r
	}
	req, asked := requests[r.Key]
	if !asked {
		return crosstalk.BatchResult{Err: errors.New("it is of no request of the batch")}
	}
	r.Answer, r.Err = read(req)
	return r
}
