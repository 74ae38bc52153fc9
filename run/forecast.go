package run

import "crosstalk"

// Forecast is what a measurement will ask.
type Forecast struct {
	Each  []Counted
	Total Count // counts each request that conditions share once
}

// Counted is a condition of a protocol with its requests.
type Counted struct {
	Condition
	Count
}

// Count is the number of requests, tokens and the cost of a measurement.
type Count struct {
	Asks   int
	Worst  crosstalk.Usage // tokens, if every answer has the maximum length
	Cost   float64         // of these tokens
	Priced bool            // all prices are known
}
