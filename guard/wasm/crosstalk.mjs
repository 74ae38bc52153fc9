// Judges in browsers and Node whether an answer is in the language that it should be in, as `crosstalk check` does.
//
//   import { load } from "./crosstalk.mjs";
//   const check = await load();
//   check({ text: "Your order is on its way.", language: "de" }).verdict; // "wrong"
//
// crosstalk.wasm and wasm_exec.js must be beside this file.
import "./wasm_exec.js";

// load reads the program once, which takes about a second, and returns check(record, threshold): the verdict of a record
// with "text" and "language", as docs/check.md describes it, with offsets in UTF-16, as strings have them. threshold is
// a risk between 0 and 1 (default: 0.5). It throws an Error for a record that cannot be judged.
export async function load() {
  const go = new globalThis.Go();
  const place = new URL("crosstalk.wasm", import.meta.url);
  const program = place.protocol === "file:"
    ? await (await import("node:fs/promises")).readFile(place)
    : await (await fetch(place)).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(program, go.importObject);
  go.run(instance);
  const call = globalThis.crosstalkCheck;
  return (record, threshold = 0) => {
    const verdict = JSON.parse(call(JSON.stringify(record), threshold));
    if (verdict.error) throw new Error(verdict.error);
    const bytes = new TextEncoder().encode(record.text);
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    for (const span of [...verdict.spans, ...verdict.masked]) {
      span.start = decoder.decode(bytes.subarray(0, span.start)).length;
      span.end = decoder.decode(bytes.subarray(0, span.end)).length;
    }
    return verdict;
  };
}
