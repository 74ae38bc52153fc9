//go:build js && wasm

// Wasm is guard for JavaScript, in browsers and Node: crosstalk.mjs loads it.
package main

import (
	"encoding/json"
	"syscall/js"

	"crosstalk/guard"
)

func main() {
	js.Global().Set("crosstalkCheck", js.FuncOf(func(_ js.Value, args []js.Value) any {
		result, err := check([]byte(args[0].String()), args[1].Float())
		if err != nil {
			result, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		return string(result)
	}))
	select {} // what is set can be called for as long as this runs
}

// check answers a record of `crosstalk check`.
func check(record []byte, threshold float64) ([]byte, error) {
	request, err := guard.ParseRequest(record, "")
	if err != nil {
		return nil, err
	}
	response, err := request.Check(guard.Checker{Threshold: threshold})
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}
