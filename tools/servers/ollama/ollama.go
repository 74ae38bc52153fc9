// Package ollama runs crosstalk against a real Ollama: see the tests.
package ollama
