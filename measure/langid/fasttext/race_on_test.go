//go:build race

package fasttext

const raceDetector = true
