// Package review reads and writes the files that people edit between two steps of a
// consistency measurement: rewritten instructions before they are used, and answers
// with an uncertain reading.
package review
