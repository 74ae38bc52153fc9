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
		var answer any // to a record of `crosstalk check`
		request, err := guard.ParseRequest([]byte(args[0].String()), "")
		if err == nil {
			answer, err = request.Check(guard.Checker{Threshold: args[1].Float()})
		}
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		result, _ := json.Marshal(answer)
		return string(result)
	}))
	select {} // functions that are set can be called as long as this runs
}
