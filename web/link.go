package web

import "net/url"

// ItemPath is the path of the answers of an item, below the address of a server
// of the run's own directory ('crosstalk serve RUN').
func ItemPath(item string) string {
	return (&url.URL{Path: "/runs/" + idOf(".") + "/answers", RawQuery: url.Values{"q": {item}}.Encode()}).String()
}
